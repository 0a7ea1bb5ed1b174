// Runs a health script of Argo CD, with the Lua that Argo CD has: without libraries but `ipairs` and the like, with the object as `obj`.
//
// Standard input is {"script": "…", "object": {…}}; standard output what the script returns, {"status": "…", "message": "…"}.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	lua "github.com/yuin/gopher-lua"
)

type request struct {
	Script string `json:"script"`
	Object any    `json:"object"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var asked request
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		return err
	}
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	// As Argo CD does unless an administrator opens more: the basics, tables and packages.
	for _, library := range []struct {
		name string
		open lua.LGFunction
	}{{lua.LoadLibName, lua.OpenPackage}, {lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable}} {
		call := lua.P{Fn: state.NewFunction(library.open), NRet: 0, Protect: true}
		if err := state.CallByParam(call, lua.LString(library.name)); err != nil {
			return err
		}
	}
	state.SetGlobal("obj", value(state, asked.Object))
	if err := state.DoString(asked.Script); err != nil {
		return err
	}
	health, isTable := state.Get(-1).(*lua.LTable)
	if !isTable {
		return fmt.Errorf("the script returned %s, expected a table", state.Get(-1).Type())
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]string{
		"status":  lua.LVAsString(health.RawGetString("status")),
		"message": lua.LVAsString(health.RawGetString("message")),
	})
}

// value is a value of JSON in Lua.
func value(state *lua.LState, of any) lua.LValue {
	switch of := of.(type) {
	case bool:
		return lua.LBool(of)
	case float64:
		return lua.LNumber(of)
	case string:
		return lua.LString(of)
	case []any:
		table := state.CreateTable(len(of), 0)
		for _, item := range of {
			table.Append(value(state, item))
		}
		return table
	case map[string]any:
		table := state.CreateTable(0, len(of))
		for name, member := range of {
			table.RawSetString(name, value(state, member))
		}
		return table
	default:
		return lua.LNil
	}
}
