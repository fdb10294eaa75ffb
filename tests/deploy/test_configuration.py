"""The deployment's files agree with each other, with the app and with what nginx accepts."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from pages._ui.bounds import DEFAULT_MB
from tests.deploy.cluster import ROOT, TEMPLATE, Proxy, Replica

KUBERNETES = ROOT / "deploy" / "kubernetes"
VARIABLE = re.compile(r"POSEMBED_[A-Z_]+")


def manifests() -> dict[str, dict[str, Any]]:
    """All manifests that the kustomization lists, by kind/name."""
    listed = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())["resources"]
    parts = [m for file in listed for m in yaml.safe_load_all((KUBERNETES / file).read_text())]
    return {f"{m['kind']}/{m['metadata']['name']}": m for m in parts}


def pod() -> dict[str, Any]:
    return manifests()["Deployment/posembed"]["spec"]["template"]


def compose() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())["services"]


@pytest.mark.proxy
def test_nginx_accepts_the_configuration(tmp_path: Path) -> None:
    proxy = Proxy(Replica(tmp_path), Replica(tmp_path))
    try:
        test = subprocess.run(
            proxy.command("-t"), cwd=proxy.folder, capture_output=True, text=True, check=False
        )
    finally:
        proxy.remove()
    assert test.returncode == 0, test.stderr
    assert "[warn]" not in test.stderr


def test_the_kustomization_lists_every_manifest() -> None:
    listed = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())["resources"]
    files = {path.name for path in KUBERNETES.iterdir()}
    assert {*listed, "kustomization.yaml"} == files


def test_labels_lead_to_the_pods_and_closed_paths_to_none() -> None:
    parts, labels = manifests(), pod()["metadata"]["labels"].items()
    for name in ("Deployment/posembed", "PodDisruptionBudget/posembed"):
        assert parts[name]["spec"]["selector"]["matchLabels"].items() <= labels
    assert parts["Service/posembed"]["spec"]["selector"].items() <= labels
    assert not parts["Service/posembed-closed"]["spec"]["selector"].items() <= labels
    assert parts["HorizontalPodAutoscaler/posembed"]["spec"]["scaleTargetRef"]["name"] == "posembed"


def test_nginx_and_the_ingress_close_the_same_paths() -> None:
    (rule,) = manifests()["Ingress/posembed"]["spec"]["rules"]
    closed = {
        path["path"].removeprefix("/_stcore/")
        for path in rule["http"]["paths"]
        if path["backend"]["service"]["name"] == "posembed-closed"
    }
    (refused,) = re.findall(
        r"_stcore/\(([a-z|-]+)\)\(/\|\$\) \{\n +return 404", TEMPLATE.read_text()
    )
    assert closed == set(refused.split("|"))


def test_containers_may_do_nothing_but_serve() -> None:
    spec = pod()["spec"]
    (container,) = spec["containers"]
    user = re.search(r"^USER (\d+):(\d+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert user
    wanted = {"runAsNonRoot": True, "runAsUser": int(user[1]), "runAsGroup": int(user[2])}
    assert wanted.items() <= spec["securityContext"].items()
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    for service in compose().values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
    assert compose()["proxy"]["user"] == "101:101"


def test_both_give_a_replica_the_same_resources() -> None:
    (container,) = pod()["spec"]["containers"]
    app = compose()["app"]
    assert container["resources"]["limits"]["memory"] == "3Gi"
    assert app["mem_limit"] == "3g"
    (volume,) = pod()["spec"]["volumes"]
    assert volume["emptyDir"]["sizeLimit"] == "512Mi"
    assert app["tmpfs"] == ["/tmp:size=512m,mode=1777"]  # noqa: S108
    assert app["scale"] == manifests()["HorizontalPodAutoscaler/posembed"]["spec"]["minReplicas"]


def test_caches_may_take_half_of_the_memory() -> None:
    size = manifests()["ConfigMap/posembed"]["data"]["POSEMBED_CACHE_MB"]
    assert int(size) == DEFAULT_MB == 3 * 1024 // 2
    given = compose()["app"]["environment"]["POSEMBED_CACHE_MB"]
    assert given == f"${{POSEMBED_CACHE_MB:-{DEFAULT_MB}}}"


def test_the_secret_comes_from_outside() -> None:
    (container,) = pod()["spec"]["containers"]
    (secret,) = container["env"]
    assert secret["name"] == "STREAMLIT_SERVER_COOKIE_SECRET"
    assert secret["valueFrom"] == {"secretKeyRef": {"name": "posembed", "key": "cookie-secret"}}
    given = compose()["app"]["environment"]["STREAMLIT_SERVER_COOKIE_SECRET"]
    assert given.startswith("${POSEMBED_COOKIE_SECRET:?")
    assert not any(name.startswith("Secret/") for name in manifests())


def test_compose_fills_in_every_variable_of_the_template() -> None:
    proxy = compose()["proxy"]
    wanted = set(re.findall(r"\$\{(POSEMBED_[A-Z_]+)\}", TEMPLATE.read_text()))
    (command,) = proxy["command"]
    assert (
        set(proxy["environment"]) == wanted == set(re.findall(r"\$\$(POSEMBED_[A-Z_]+)", command))
    )


def test_the_upload_limit_is_the_same_everywhere() -> None:
    config = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())
    room = f"{config['server']['maxUploadSize'] + 1}m"
    assert f"client_max_body_size {room};\n      proxy_request_buffering" in TEMPLATE.read_text()
    annotations = manifests()["Ingress/posembed"]["metadata"]["annotations"]
    assert annotations["nginx.ingress.kubernetes.io/proxy-body-size"] == room


def test_streamlit_knows_every_option_that_is_set() -> None:
    from streamlit import config

    known = {
        f"STREAMLIT_{re.sub(r'(?<=[a-z])(?=[A-Z])', '_', name).replace('.', '_').upper()}"
        for name in config.get_config_options()
    }
    app = compose()["app"]["environment"]
    given = {
        name
        for name in {*manifests()["ConfigMap/posembed"]["data"], *app}
        if not name.startswith("POSEMBED_")
    }
    guide = (ROOT / "docs" / "operations.md").read_text()
    assert given | set(re.findall(r"STREAMLIT_[A-Z_]+", guide)) <= known


def test_the_guide_explains_every_variable() -> None:
    guide = (ROOT / "docs" / "operations.md").read_text()
    explained = set(re.findall(r"^\| `([A-Z_]+)`", guide, re.MULTILINE))
    compose_file = (ROOT / "deploy" / "compose.yaml").read_text()
    used = set(VARIABLE.findall(compose_file)) | set(compose()["app"]["environment"])
    used |= set(manifests()["ConfigMap/posembed"]["data"])
    python = [*(ROOT / "posembed_core").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]
    for path in python:
        used |= set(re.findall(r'"(POSEMBED_[A-Z_]+)"', path.read_text()))
    assert used <= explained
