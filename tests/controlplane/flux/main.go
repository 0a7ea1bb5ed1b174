// Applies and diffs objects, and waits for them, as Flux's kustomize-controller does, with Flux's own library.
//
// Requests are lines of JSON on standard input, each answered by a line on standard output:
//
//	{"do": "apply", "object": {…}}  ->  {"action": "created" | "configured" | "unchanged"}
//	{"do": "diff", "object": {…}}   ->  {"action": "unchanged" | "configured" | …, "live": {…}, "merged": {…}}
//	{"do": "status", "object": {…}} ->  {"action": "Current" | "InProgress" | …}, what kstatus makes of it as it is here
//
// A request that fails is answered with {"error": "…"}.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/ssa"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

type request struct {
	Do     string                     `json:"do"`
	Object *unstructured.Unstructured `json:"object"`
}

type answer struct {
	Action string                     `json:"action,omitempty"`
	Live   *unstructured.Unstructured `json:"live,omitempty"`
	Merged *unstructured.Unstructured `json:"merged,omitempty"`
	Error  string                     `json:"error,omitempty"`
}

// The field manager and the group of the labels of Flux's kustomize-controller.
var owner = ssa.Owner{Field: "kustomize-controller", Group: "kustomize.toolkit.fluxcd.io"}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	config.QPS, config.Burst = -1, -1
	kube, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	manager := ssa.NewResourceManager(kube, nil, owner)
	lines := bufio.NewReader(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			// The end of the input is the end of the work.
			return nil
		}
		if err := answers.Encode(serve(manager, line)); err != nil {
			return err
		}
	}
}

func serve(manager *ssa.ResourceManager, line []byte) answer {
	var asked request
	if err := json.Unmarshal(line, &asked); err != nil {
		return answer{Error: err.Error()}
	}
	if asked.Do == "status" {
		result, err := status.Compute(asked.Object)
		if err != nil {
			return answer{Error: err.Error()}
		}
		return answer{Action: result.Status.String()}
	}
	ctx := context.Background()
	manager.SetOwnerLabels([]*unstructured.Unstructured{asked.Object}, "team", "flux-system")
	switch asked.Do {
	case "apply":
		entry, err := manager.Apply(ctx, asked.Object, ssa.DefaultApplyOptions())
		if err != nil {
			return answer{Error: err.Error()}
		}
		return answer{Action: entry.Action.String()}
	case "diff":
		entry, live, merged, err := manager.Diff(ctx, asked.Object, ssa.DefaultDiffOptions())
		if err != nil {
			return answer{Error: err.Error()}
		}
		return answer{Action: entry.Action.String(), Live: live, Merged: merged}
	}
	return answer{Error: fmt.Sprintf("unknown request %q", asked.Do)}
}
