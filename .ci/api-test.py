"""Hooks of the API test: what the document cannot say.

Origins and cursors are values of the running server, and some rules of a request are none of JSON Schema. Valid data
that is refused for one of them is no finding; refused for anything else it is.
"""

import os

import schemathesis

ORIGIN = os.environ["MDOC_ORIGIN"]
CREATE = "POST /v1/verification_sessions"
SUBMIT = "POST /v1/verification_sessions/{id}/submit"
MOCK = "POST /v1/test/mock_responses"
EVIDENCE = "GET /v1/verification_sessions/{id}/evidence"

# By operation: the code of the refusal, and what its detail or one of its `errors` must say ("" for anything).
REFUSALS = {
    CREATE: [
        ("api.too_many_age_requests", ""),
        ("api.invalid_request", "is asked for twice"),
        ("api.invalid_request", "ask for more than"),
        ("api.invalid_request", "can be asked for once in this protocol"),
        ("api.invalid_request", "cannot be asked for together with `age_in_years`"),
        ("api.invalid_request", "goes with `intent_to_retain` true only"),
        ("api.invalid_request", "goes with elements of `intent_to_retain` true"),
        ("api.invalid_request", "has another intent to retain"),
        # The bound of this server, which the schema cannot know.
        ("api.invalid_request", "must be a whole number from 1 to 365"),
    ],
    SUBMIT: [
        ("session.protocol_mismatch", ""),
        ("api.invalid_request", "must be a DeviceEngagement"),
        ("api.invalid_request", "must be a COSE_Key"),
        ("api.invalid_request", "must be an unencrypted private key"),
    ],
    MOCK: [
        ("session.protocol_mismatch", ""),
        ("api.protocol_unsupported", "does not answer `iso-18013-5-proximity`"),
        # What is asked of the mock wallet may not fit the session.
        ("api.invalid_request", ""),
    ],
}
CURSOR = ("api.invalid_request", "`starting_after` names no")
# Of any operation: the session is over, and the same Idempotency-Key came with another body.
STATES = ["session.expired", "session.redacted", "api.idempotency_key_reused"]


def problem(response):
    try:
        return response.json()
    except ValueError:
        return {}


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """False for a refusal that the server's state or one of its own rules explains."""
    name = type(failure).__name__
    # A session that was just made has none.
    if name == "EnsureResourceAvailability" and case.operation.label == EVIDENCE:
        return False
    if name not in ("RejectedPositiveData", "AcceptedNegativeData") or response.status_code < 400:
        return True
    refusal = problem(response)
    code = refusal.get("code")
    if code in STATES:
        return False
    if name == "AcceptedNegativeData":
        return True
    texts = [refusal.get("detail", "")] + [error["detail"] for error in refusal.get("errors", [])]
    rules = REFUSALS.get(case.operation.label, []) + [CURSOR]
    return not any(code == known and any(part in text for text in texts) for known, part in rules)


def enforce_rules_in_words(schemas):
    """The rules that narrow and make no type stand in the descriptions, for people. Here they are rules again: of what
    breaks them the server would refuse the most."""
    answers = [name for name in schemas if name.startswith(("OpenID4VP", "AnnexB")) and name.endswith("AnswerData")]
    for name in answers + ["WalletResponseForm"]:
        schemas[name]["oneOf"] = [{"required": [member]} for member in ("response", "vp_token", "error")]
    schemas["ISOMdocAnswerData"]["oneOf"] = [{"required": [member]} for member in ("response", "Response")]
    asks = [
        {"properties": {"elements": {"type": "array", "minItems": 1}}, "required": ["elements"]},
        {"properties": {"age_over": {"type": "array", "minItems": 1}}, "required": ["age_over"]},
        {"properties": {"minimum_age": {"type": "integer"}}, "required": ["minimum_age"]},
    ]
    in_app = [branch["$ref"].rpartition("/")[2] for branch in schemas["InAppDocumentRequest"]["oneOf"]]
    for name in in_app + ["DocumentRequest"]:
        schemas[name]["anyOf"] = asks


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """The origins of the relying party `test` are this server's own: pages and wallets' redirects are there."""
    schemas = raw_schema["components"]["schemas"]
    enforce_rules_in_words(schemas)
    for branch in schemas["CreateVerificationSession"]["oneOf"]:
        properties = schemas[branch["$ref"].rpartition("/")[2]]["properties"]
        properties["origin"] = {"enum": [ORIGIN] if "Web" in branch["$ref"] else [ORIGIN, None]}
        for name in ("redirect_uri", "return_url"):
            if name in properties:
                properties[name] = {"enum": [ORIGIN + "/done", None]}
    schemas["CreateInAppSession"]["properties"]["apple_merchant_id"] = {"enum": ["merchant.test.mdoc", None]}
    body = raw_schema["paths"]["/v1/verification_sessions"]["post"]["requestBody"]
    for example in body["content"]["application/json"]["examples"].values():
        if "origin" in example["value"]:
            example["value"]["origin"] = ORIGIN
    # The few keys that are generated again and again are each good for one body: they would keep all others from being
    # looked at. The other operations have theirs.
    create = raw_schema["paths"]["/v1/verification_sessions"]["post"]
    create["parameters"] = [one for one in create["parameters"] if one["name"] != "Idempotency-Key"]
