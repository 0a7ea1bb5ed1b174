"""Microsoft's SDK for Python against a simulator: what it sends must be taken, what is answered it must understand.

Arguments: endpoint, tenant, subscription. REQUESTS_CA_BUNDLE names the simulator's authority.
"""

import io
import json
import sys

from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from azure.identity import ClientSecretCredential
from azure.mgmt.network import NetworkManagementClient
from azure.mgmt.resource.resources import ResourceManagementClient
from azure.mgmt.storage import StorageManagementClient

ENDPOINT, TENANT, SUBSCRIPTION = sys.argv[1:]
GROUP, LOCATION = "python", "westeurope"


def client(kind, api_version):
    # MSAL would ask Microsoft's own host about an authority that it does not know.
    credential = ClientSecretCredential(
        TENANT, "python", "any", authority=ENDPOINT, disable_instance_discovery=True
    )
    return kind(
        credential,
        SUBSCRIPTION,
        base_url=ENDPOINT,
        credential_scopes=[ENDPOINT + "/.default"],
        api_version=api_version,
        polling_interval=0,
    )


def equal(found, expected):
    assert found == expected, f"expected {expected!r}, found {found!r}"


def refused(call, status, code, text=""):
    """The call fails with this status and ARM error code, and its message has this text."""
    try:
        call()
    except HttpResponseError as error:
        assert error.error is not None, f"no ARM error: {error}"
        equal((error.status_code, error.error.code), (status, code))
        assert text in error.error.message, error.error.message
        return error
    raise AssertionError("the call was not refused")


def missing(call):
    error = refused(call, 404, "ResourceNotFound")
    assert isinstance(error, ResourceNotFoundError), type(error)


def groups(resources):
    made = resources.resource_groups.create_or_update(GROUP, {"location": LOCATION, "tags": {"a": "1"}})
    equal((made.name, made.location, made.properties.provisioning_state), (GROUP, LOCATION, "Succeeded"))
    assert resources.resource_groups.check_existence(GROUP)
    assert not resources.resource_groups.check_existence("none")
    changed = resources.resource_groups.update(GROUP, {"tags": {"a": "2"}})
    equal(changed.tags, {"a": "2"})
    equal([group.name for group in resources.resource_groups.list()], [GROUP])
    refused(lambda: resources.resource_groups.get("none"), 404, "ResourceGroupNotFound", "none")


def accounts(storage):
    operations = storage.storage_accounts
    body = {"location": LOCATION, "kind": "StorageV2", "sku": {"name": "Standard_LRS"}}
    poller = operations.begin_create(GROUP, "pythonaccount", body)
    made = poller.result(60)
    equal((poller.status(), made.provisioning_state), ("Succeeded", "Succeeded"))
    equal(made.sku.name, "Standard_LRS")
    assert made.primary_endpoints.blob.startswith("https://pythonaccount.blob."), made.primary_endpoints.blob
    changed = operations.update(GROUP, "pythonaccount", {"tags": {"team": "a"}, "properties": {"accessTier": "Cool"}})
    equal((changed.tags, changed.access_tier, changed.sku.name), ({"team": "a"}, "Cool", "Standard_LRS"))
    keys = operations.list_keys(GROUP, "pythonaccount").keys_property
    equal([key.key_name for key in keys], ["key1", "key2"])
    equal([account.name for account in operations.list()], ["pythonaccount"])
    equal([account.name for account in operations.list_by_resource_group(GROUP)], ["pythonaccount"])

    container = storage.blob_containers.create(GROUP, "pythonaccount", "data", {"properties": {"publicAccess": "None"}})
    equal((container.name, container.public_access), ("data", "None"))
    equal([item.name for item in storage.blob_containers.list(GROUP, "pythonaccount")], ["data"])
    storage.blob_containers.delete(GROUP, "pythonaccount", "data")
    missing(lambda: operations.get_properties(GROUP, "none"))

    wrong = body | {"sku": {"name": 7}}
    refused(lambda: operations.begin_create(GROUP, "wrong", wrong), 400, "InvalidRequestContent", "sku.name")
    unknown = body | {"properties": {"accesTier": "Hot"}}
    refused(lambda: operations.begin_create(GROUP, "wrong", unknown), 400, "InvalidRequestContent", "accesTier")
    lacking = {"location": LOCATION, "kind": "StorageV2"}
    refused(lambda: operations.begin_create(GROUP, "wrong", lacking), 400, "InvalidRequestContent", "sku")
    refused(lambda: operations.begin_create("none", "wrong", body), 404, "ResourceGroupNotFound", "none")
    operations.delete(GROUP, "pythonaccount")
    missing(lambda: operations.get_properties(GROUP, "pythonaccount"))


def networks(network):
    body = {"location": LOCATION, "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}}}
    made = network.virtual_networks.begin_create_or_update(GROUP, "net", body).result(60)
    equal((made.name, made.address_space.address_prefixes), ("net", ["10.0.0.0/16"]))
    subnet = {"properties": {"addressPrefix": "10.0.1.0/24"}}
    made = network.subnets.begin_create_or_update(GROUP, "net", "one", subnet).result(60)
    equal((made.name, made.address_prefix, made.provisioning_state), ("one", "10.0.1.0/24", "Succeeded"))
    equal([item.name for item in network.subnets.list(GROUP, "net")], ["one"])
    shown = network.virtual_networks.get(GROUP, "net")
    equal([item.name for item in shown.subnets], ["one"])
    tagged = network.virtual_networks.update_tags(GROUP, "net", {"tags": {"team": "b"}})
    equal((tagged.tags, len(tagged.subnets)), ({"team": "b"}, 1))
    equal([item.name for item in network.virtual_networks.list_all()], ["net"])

    poller = network.subnets.begin_delete(GROUP, "net", "one")
    poller.result(60)
    equal(poller.status(), "Succeeded")
    missing(lambda: network.subnets.get(GROUP, "net", "one"))
    # The SDK checks a model itself, but not bytes.
    wrong = json.dumps({"location": LOCATION, "properties": {"addressSpace": "10.0.0.0/16"}}).encode()
    refused(
        lambda: network.virtual_networks.begin_create_or_update(GROUP, "wrong", io.BytesIO(wrong)),
        400, "InvalidRequestContent", "addressSpace",
    )
    refused(
        lambda: network.subnets.begin_create_or_update(GROUP, "none", "one", subnet),
        404, "ParentResourceNotFound",
    )


def everything_goes(resources):
    names = sorted(item.name for item in resources.resources.list_by_resource_group(GROUP))
    equal(names, ["net"])
    poller = resources.resource_groups.begin_delete(GROUP)
    poller.result(60)
    equal(poller.status(), "Succeeded")
    assert not resources.resource_groups.check_existence(GROUP)


resources = client(ResourceManagementClient, "2020-06-01")
for check, argument in [
    (groups, resources),
    (accounts, client(StorageManagementClient, "2023-01-01")),
    (networks, client(NetworkManagementClient, "2025-03-01")),
    (everything_goes, resources),
]:
    check(argument)
    print(f"{check.__name__}: as the SDK expects")
