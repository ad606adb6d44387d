"""Which scenarios of the suite say something about any server, and what the others need."""

from __future__ import annotations

GENERIC = frozenset(
    (
        *("server-initialize", "server-session-lifecycle", "server-stateless", "ping"),
        *("completion-complete", "tools-list", "prompts-list", "resources-list"),
        *("resources-subscribe", "resources-unsubscribe", "sep-2164-resource-not-found"),
        *("dns-rebinding-protection", "server-sse-multiple-streams", "caching"),
        *("http-header-validation", "input-required-result-unsupported-methods"),
        *("input-required-result-ignore-extra-params", "input-required-result-validate-input"),
        "input-required-result-missing-input-response",
    )
)
"""They pass on any server that keeps to the protocol; every one of them must pass on ours."""

FIXTURE_CHECKS = {
    "server-stateless": {
        "sep-2575-server-rejects-undeclared-capability": "a tool test_missing_capability",
        "sep-2575-missing-capability-http-400": "a tool test_missing_capability",
        "sep-2575-server-sends-prompts-list-changed-on-subscription": "a list that changes",
        "sep-2575-server-sends-tools-list-changed-on-subscription": "a list that changes",
    },
    "input-required-result-missing-input-response": {
        "sep-2322-missing-response-rerequests": "a tool that asks the client back",
    },
}
"""Checks inside generic scenarios that need something of their own, and what."""

_ASKING = "a tool that asks the client back"

FIXTURES = {
    "tools-call-simple-text": "a tool test_simple_text",
    "tools-call-image": "a tool test_image_content",
    "tools-call-audio": "a tool test_audio_content",
    "tools-call-embedded-resource": "a tool test_embedded_resource",
    "tools-call-mixed-content": "a tool test_multiple_content_types",
    "tools-call-error": "a tool test_error_handling",
    "tools-call-with-logging": "a tool test_tool_with_logging, and MCP logging (deprecated)",
    "tools-call-with-progress": "a tool test_tool_with_progress",
    "tools-call-sampling": "a tool test_sampling, and MCP sampling (deprecated)",
    "tools-call-elicitation": "a tool test_elicitation",
    "json-schema-2020-12": "a tool json_schema_2020_12_tool",
    "elicitation-sep1034-defaults": "a tool test_elicitation_sep1034_defaults",
    "elicitation-sep1330-enums": "a tool test_elicitation_sep1330_enums",
    "logging-set-level": "MCP logging, which is deprecated and which we do not declare",
    "server-sse-polling": "a tool test_reconnection, and a store of past events",
    "resources-read-text": "a resource test://static-text",
    "resources-read-binary": "a resource test://static-binary",
    "resources-templates-read": "a resource test://template/{id}/data",
    "prompts-get-simple": "a prompt test_simple_prompt",
    "prompts-get-with-args": "a prompt test_prompt_with_arguments",
    "prompts-get-embedded-resource": "a prompt test_prompt_with_embedded_resource",
    "prompts-get-with-image": "a prompt test_prompt_with_image",
    "http-custom-header-server-validation": "a tool whose arguments go into headers",
    "input-required-result-basic-elicitation": _ASKING,
    "input-required-result-basic-sampling": _ASKING,
    "input-required-result-basic-list-roots": _ASKING,
    "input-required-result-request-state": _ASKING,
    "input-required-result-multiple-input-requests": _ASKING,
    "input-required-result-multi-round": _ASKING,
    "input-required-result-result-type": _ASKING,
    "input-required-result-tampered-state": _ASKING,
    "input-required-result-capability-check": _ASKING,
    "input-required-result-non-tool-request": "a prompt that asks the client back",
}
"""What each of the other scenarios needs. It does not belong into a memory."""

_SKILLS = "the skills extension, which we do not offer"
_TASKS = "the tasks extension, which we do not offer"

EXTENSIONS = {
    "sep-2640-skills-directory": _SKILLS,
    "sep-2640-skills-enumeration": _SKILLS,
    "sep-2640-skills-manifest": _SKILLS,
    "tasks-lifecycle": _TASKS,
    "tasks-capability-negotiation": _TASKS,
    "tasks-wire-fields": _TASKS,
    "tasks-request-state-removal": _TASKS,
    "tasks-mrtr-input": _TASKS,
    "tasks-request-headers": _TASKS,
    "tasks-dispatch-and-envelope": _TASKS,
    "tasks-status-notifications": _TASKS,
    "tasks-required-task-error": _TASKS,
    "tasks-mrtr-composition": _TASKS,
}
"""Scenarios of extensions of the protocol; the suite runs them by name only."""

OTHERS = {**FIXTURES, **EXTENSIONS}
