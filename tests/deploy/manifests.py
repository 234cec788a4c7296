#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What the files of deploy/ promise each other.

    manifests.py [ROOT]    prints faults as file: text; exit 1 if there is one

All YAML parses, without a key given twice. Stopping is given more time than the drain delay and the
grace take together: by Kubernetes, by compose, by systemd. Memory: what queries may hold fits the
limit, and one query is not all. Selectors find the pods, ports and maps that are named exist,
kustomizations list what is there, and the two kinds that no schema at hand knows (ServiceMonitor,
GRPCRoute) have the form that they need.
"""
import pathlib
import re
import sys

import yaml

from options import Options, seconds

_MEMORY = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "ki": 2**10, "mi": 2**20, "gi": 2**30}
faults = 0


def fault(place, text):
    global faults
    faults += 1
    print(f"{place}: {text}")


class Strict(yaml.SafeLoader):
    """As SafeLoader, but a key given twice is an error."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(None, None, f"{key} is given twice", node.start_mark)
        return super().construct_mapping(node, deep)


def load(path):
    try:
        return [one for one in yaml.load_all(path.read_text(), Strict) if one is not None]
    except yaml.YAMLError as why:
        fault(path, f"does not parse: {why}")
        return []


def memory(text):
    number, unit = re.fullmatch(r"([\d.]+)([a-z]*)", str(text).lower()).groups()
    return float(number) * _MEMORY[unit.removesuffix("b")]


def settings(options, given):
    """A function flag → value: what is given, else the default."""
    return lambda flag: given.get(options.by_flag[flag].variable, options.by_flag[flag].default)


def check_stopping(place, setting, allowed, sleeps=0.0):
    needed = sleeps + seconds(setting("drain-delay")) + seconds(setting("grace"))
    if allowed <= needed:
        fault(place, f"stopping is given {allowed:g} s, but drain delay and grace take up to {needed:g} s")
    if seconds(setting("grace")) < seconds(setting("dst-broadcast-timeout")):
        fault(place, "the grace is shorter than a query may take (BYDB_DST_BROADCAST_TIMEOUT)")


def check_memory(place, setting, limit):
    """The process reads its limit; what it leaves for itself, and what one query may take of the rest."""
    percent, one = int(setting("allowed-percent")), int(setting("measure-vectorized-query-memory-mib")) * 2**20
    if not 0 < percent <= 80 or setting("allowed-bytes") != "0":
        fault(place, f"BYDB_ALLOWED_PERCENT={percent} leaves too little beside what queries hold: at most 80")
    elif one > limit * percent / 100 / 4:
        fault(place, f"one query may hold {one / 2**20:g} MiB, more than a quarter of all that queries may hold")


def check_nodes(place, text):
    """The list of nodes, as the liaison reads it."""
    for index, node in enumerate(yaml.safe_load(text).get("nodes") or []):
        if not re.fullmatch(r"[^:]+:\d+", node.get("grpc_address", "")):
            fault(place, f"node {index} has no grpc_address of the form host:port")
        if node.get("tls_enabled") and not node.get("ca_cert_path"):
            fault(place, f"node {index} has TLS enabled but no ca_cert_path")


# ------------------------------------------------------------------------------------- Kubernetes


def container_of(deployment):
    return deployment["spec"]["template"]["spec"]["containers"][0]


def check_deployment(place, deployment, options, maps):
    spec, pod = deployment["spec"], deployment["spec"]["template"]["spec"]
    container = container_of(deployment)
    variables = {one["name"]: one.get("value") for one in container["env"]}
    setting = settings(options, {name: value for name, value in variables.items() if value is not None})
    sleeps = container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    check_stopping(place, setting, pod.get("terminationGracePeriodSeconds", 30), sleeps)
    check_memory(place, setting, memory(container["resources"]["limits"]["memory"]))
    rolling = spec["strategy"].get("rollingUpdate", {})
    if (rolling.get("maxUnavailable"), rolling.get("maxSurge")) != (0, 1):
        fault(place, "the rolling update has to have maxUnavailable 0 and maxSurge 1")
    if pod.get("enableServiceLinks") is not False:
        fault(place, "enableServiceLinks has to be false: a Service's variables may be taken for flags")
    if not all(pod["securityContext"].get(key) for key in ("runAsNonRoot", "runAsUser", "seccompProfile")):
        fault(place, "the pod's securityContext lacks runAsNonRoot, runAsUser or seccompProfile")
    mine = container["securityContext"]
    if not mine.get("readOnlyRootFilesystem") or mine.get("allowPrivilegeEscalation") is not False or \
            mine.get("capabilities", {}).get("drop") != ["ALL"]:
        fault(place, "the container's securityContext is not tight")
    if not spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items():
        fault(place, "the selector does not match the pods")
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    for probe in ("readinessProbe", "livenessProbe"):
        for kind in ("grpc", "httpGet"):
            port = container[probe].get(kind, {}).get("port")
            if port is not None and port not in ports and port not in ports.values():
                fault(place, f"{probe}: no port {port}")
    if container["livenessProbe"].get("httpGet", {}).get("path") == "/healthz":
        fault(place, "/healthz is no liveness: it is 503 while the cluster cannot be reached")
    check_volumes(place, pod, container, maps)


def check_volumes(place, pod, container, maps):
    volumes = {one["name"]: one for one in pod["volumes"]}
    for mount in container["volumeMounts"]:
        volume = volumes.get(mount["name"])
        if volume is None:
            fault(place, f"no volume {mount['name']}")
        elif "configMap" in volume and volume["configMap"]["name"] not in maps:
            fault(place, f"no ConfigMap {volume['configMap']['name']}")
        if "subPath" in mount:
            fault(place, "a subPath mount never changes: the list of nodes would be frozen")


def check_service(place, service, deployment):
    pod = deployment["spec"]["template"]
    if not service["spec"]["selector"].items() <= pod["metadata"]["labels"].items():
        fault(place, f"Service {service['metadata']['name']} selects no pod")
    names = {port["name"] for port in container_of(deployment)["ports"]}
    for port in service["spec"]["ports"]:
        if port["targetPort"] not in names:
            fault(place, f"Service {service['metadata']['name']}: no port {port['targetPort']}")


def check_service_monitor(place, monitor, services):
    labels = monitor["spec"].get("selector", {}).get("matchLabels") or {}
    found = [one for one in services if labels and labels.items() <= one["metadata"]["labels"].items()]
    if len(found) != 1:
        fault(place, f"the ServiceMonitor selects {len(found)} Services, expected one")
        return
    names = {port["name"] for port in found[0]["spec"]["ports"]}
    if not monitor["spec"].get("endpoints"):
        fault(place, "the ServiceMonitor has no endpoints")
    for endpoint in monitor["spec"].get("endpoints") or []:
        if endpoint.get("port") not in names:
            fault(place, f"the Service has no port {endpoint.get('port')}")
        for key in ("interval", "scrapeTimeout"):
            if not re.fullmatch(r"(\d+(ms|s|m|h))+", endpoint.get(key, "15s")):
                fault(place, f"{key}: {endpoint[key]} is no duration")
        unknown = endpoint.keys() - {"port", "path", "interval", "scrapeTimeout", "scheme"}
        if unknown:
            fault(place, f"an endpoint has unknown keys: {', '.join(sorted(unknown))}")


def check_grpc_route(place, route, services, sources):
    if not route["spec"].get("parentRefs"):
        fault(place, "the GRPCRoute has no parentRefs")
    ours = {(one["metadata"]["name"], port["port"]) for one in services for port in one["spec"]["ports"]}
    for rule in route["spec"]["rules"]:
        for match in rule.get("matches", []):
            path = f"/{match['method']['service']}/{match['method']['method']}"
            if f'"{path}"' not in sources:
                fault(place, f"the liaison has no method {path}")
            if not all((one["name"], one["port"]) in ours for one in rule["backendRefs"]):
                fault(place, f"{path} does not go to one of our Services")


def check_kustomization(path, document):
    for name in document.get("resources", []) + [one["path"] for one in document.get("patches", [])]:
        if not (path.parent / name).exists():
            fault(path, f"{name} is not there")


def check_kubernetes(root, options):
    folder = root / "deploy" / "kubernetes"
    documents = {path: load(path) for path in sorted((folder / "base").glob("*.yaml"))}
    all_of = lambda kind: [(path, one) for path, found in documents.items() for one in found if one["kind"] == kind]
    services = [one for _, one in all_of("Service")]
    maps = {one["metadata"]["name"] for _, one in all_of("ConfigMap")}
    sources = "".join(path.read_text() for path in sorted((root / "liaison" / "edge").glob("*.c")))
    for path, deployment in all_of("Deployment"):
        check_deployment(path, deployment, options, maps)
        for place, service in all_of("Service"):
            check_service(place, service, deployment)
    for path, found in all_of("ServiceMonitor"):
        check_service_monitor(path, found, services)
    for path, found in all_of("GRPCRoute"):
        check_grpc_route(path, found, services, sources)
    for path in sorted(folder.rglob("*.yaml")):
        for document in load(path) if path not in documents else documents[path]:
            if document["kind"] == "Kustomization":
                check_kustomization(path, document)
            elif document["kind"] == "ConfigMap" and "nodes.yaml" in document["data"]:
                check_nodes(path, document["data"]["nodes.yaml"])


# ------------------------------------------------------------------------------- compose, systemd


def check_compose(path, options):
    for document in load(path):
        service = document["services"]["bydb-liaison"]
        setting = settings(options, service["environment"])
        check_stopping(path, setting, seconds(service.get("stop_grace_period", "10s")))
        check_memory(path, setting, memory(service["mem_limit"] + "i"))  # compose counts in powers of 2
        if not service.get("read_only") or service.get("cap_drop") != ["ALL"]:
            fault(path, "the liaison's root file system or capabilities are not closed")
        for name, one in document["services"].items():
            for used in one.get("configs", []):
                if used["source"] not in document["configs"]:
                    fault(path, f"{name}: no config {used['source']}")
        for one in document["configs"].values():
            check_nodes(path, one["content"])


def check_unit(path, variables, options):
    unit = dict(re.findall(r"^(\w+)=(.*)$", path.read_text(), re.M))
    setting = settings(options, variables)
    check_stopping(path, setting, float(unit.get("TimeoutStopSec", "90")))
    check_memory(path, setting, memory(unit["MemoryMax"] + "i"))


def main(root):
    options, deploy = Options(root), root / "deploy"
    check_kubernetes(root, options)
    check_compose(deploy / "compose.yaml", options)
    variables = dict(re.findall(r"^(BYDB_\w+)=(.*)$", (deploy / "bydb-liaison.env").read_text(), re.M))
    for unit in ("bydb-liaison.service", "bydb-liaison@.service"):
        check_unit(deploy / unit, variables, options)
    return 1 if faults else 0


if __name__ == "__main__":
    default = pathlib.Path(__file__).resolve().parents[2]
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else default))
