"""Hooks of the API test: what the document cannot say.

Origins and cursors are values of the running server, and some rules of a request are none of JSON Schema. Valid data
that is refused for one of them is no finding; refused for anything else it is.
"""

import os

import schemathesis

ORIGIN = os.environ["MDOC_ORIGIN"]
CREATE = "POST /v1/verification_sessions"
SUBMIT = "POST /v1/verification_sessions/{id}/submit"
VERIFY = "POST /v1/verifications"
WALLET_RESPONSE = "POST /v1/wallet/{relying_party}/{session}/response"
MOCK = "POST /v1/test/mock_responses"
OPENED_MOCK = "POST /v1/test/opened_mock_responses"
DIAGNOSTIC = "POST /v1/test/diagnostics"
CHECK = "POST /v1/test/checks"
WALLET_REQUEST = "POST /v1/test/wallet_requests"
EVIDENCE = "GET /v1/verification_sessions/{id}/evidence"

# Rules that no schema states, by operation: the code of the refusal, what its detail or one of its `errors` says after its
# pointer, and the member whose description states the rule.
REFUSALS = {
    CREATE: [
        ("api.invalid_request", "is a duplicate", "CreateVerificationSession.protocols"),
        ("api.invalid_request", "cannot be offered together", "CreateVerificationSession.protocols"),
        ("api.invalid_request", "must be false in this protocol", "CreateVerificationSession.protocols"),
        ("api.invalid_request", "must be one of `openid4vp.eu_age_verification`", "CreateVerificationSession.protocols"),
        ("api.invalid_request", "makes a link of", "CreateVerificationSession.protocols"),
        ("api.invalid_request", "is required", "CreateVerificationSession.origin"),
        ("api.invalid_request", "is allowed only with `openid4vp`", "CreateVerificationSession.redirect_uri"),
        ("api.invalid_request", "needs `openid4vp`, or the page's own", "CreateVerificationSession.return_url"),
        ("api.invalid_request", "is allowed only with `apple-in-app`", "CreateVerificationSession.apple_merchant_id"),
        ("api.invalid_request", "is not allowed with `apple-in-app`", "CreateVerificationSession.purpose_hint"),
        ("api.invalid_request", "must be one of the relying party's", "CreateVerificationSession.intended_use_id"),
        ("api.invalid_request", "is not one of the relying party's `templates`", "CreateVerificationSession.template"),
        ("api.invalid_request", "excludes `documents`", "CreateVerificationSession.template"),
        ("api.invalid_request", "returns only one document", "CreateVerificationSession.all_documents"),
        ("api.invalid_request", "must have `document_number`", "CreateVerificationSession.all_documents"),
        ("api.invalid_request", "can be requested once", "CreateVerificationSession.documents"),
        ("api.invalid_request", "request more than", "CreateVerificationSession.documents"),
        ("api.invalid_request", "is not offered by Apple's in-app protocol", "DocumentRequest.doc_type"),
        ("api.invalid_request", "asks for nothing", "DocumentRequest.elements"),
        ("api.invalid_request", "is a duplicate", "DocumentRequest.elements"),
        ("api.too_many_age_requests", "", "DocumentRequest.age_over"),
        ("api.invalid_request", "must be a whole number from 1 to 99", "DocumentRequest.age_over"),
        ("api.invalid_request", "cannot be requested together with `age_in_years`", "DocumentRequest.age_over"),
        ("api.invalid_request", "needs an element whose `intent_to_retain` is true", "DocumentRequest.retain_days"),
        # The bound of this server.
        ("api.invalid_request", "must be a whole number from 1 to 365", "DocumentRequest.retain_days"),
        ("zk.not_provable", "", "DocumentRequest.zk"),
        ("zk.circuits_missing", "", "DocumentRequest.zk"),
        ("api.invalid_request", "is required", "ElementRequest.namespace"),
        ("api.invalid_request", "excludes `apple_element`: send one of the two", "ElementRequest.apple_element"),
        ("api.invalid_request", "must be one of this document type's Apple elements", "ElementRequest.apple_element"),
        ("api.invalid_request", "must have the same `intent_to_retain`", "ElementRequest.intent_to_retain"),
        ("api.invalid_request", "is allowed only with `intent_to_retain` true", "ElementRequest.retain_days"),
        ("api.invalid_request", "cannot be requested by", "ElementRequest.alternatives"),
    ],
    SUBMIT: [
        ("session.protocol_mismatch", "", "SubmitVerificationSession.protocol"),
        ("api.invalid_request", "must have one of `response`, `vp_token` and `error`", "OpenID4VPResponseData.response"),
        ("api.invalid_request", "is required", "ProximityResponseData.handover"),
        ("api.invalid_request", "is already in `session_transcript`", "ProximityResponseData.session_transcript"),
        ("api.invalid_request", "is required, unless `session_data` is sent", "ProximityResponseData.device_response"),
        ("api.invalid_request", "is required to open `session_data`", "ProximityResponseData.reader_private_key"),
        ("api.invalid_request", "must be `qr` or an object with `nfc`", "ProximityResponseData.handover"),
        ("api.unknown_member", "", "ProximityResponseData.handover"),
        ("api.invalid_request", "must be a DeviceEngagement", "ProximityResponseData.device_engagement"),
        ("api.invalid_request", "must be a COSE_Key", "ProximityResponseData.e_reader_key"),
        ("api.invalid_request", "must be the SessionTranscript", "ProximityResponseData.session_transcript"),
        ("api.invalid_request", "must be an unencrypted private key", "ProximityResponseData.reader_private_key"),
    ],
    WALLET_RESPONSE: [
        ("api.invalid_request", "must have one of `response`, `vp_token` and `error`", "PostedResponseData.response"),
        ("api.invalid_request", "must equal the request's `state`", "PostedResponseData.state"),
    ],
    MOCK: [
        ("session.protocol_mismatch", "", "CreateMockResponse.protocol"),
        # What is asked of the mock wallet may not fit the session.
        ("api.invalid_request", "", "CreateMockResponse.variant"),
    ],
    OPENED_MOCK: [
        ("session.protocol_mismatch", "", "CreateMockResponse.protocol"),
        ("api.invalid_request", "", "CreateMockResponse.variant"),
    ],
    DIAGNOSTIC: [("api.invalid_request", " at byte ", "CreateDiagnostic.cbor")],
    CHECK: [
        ("api.invalid_request", "/request", "CreateCheck.request"),
        ("api.invalid_request", "must be readable certificates in PEM", "CreateCheck.trust_anchors"),
        ("api.invalid_request", "must be an array of device engagement", "CreateCheck.session_transcript"),
    ],
    WALLET_REQUEST: [
        ("api.invalid_request", "must be a link with a request", "CreateMockWalletRequest.link"),
        ("api.invalid_request", "must be the link of a session of this server", "CreateMockWalletRequest.link"),
    ],
}
VERIFICATION_FORMS = ["session_transcript", "openid4vp", "openid4vp_dc_api", "org_iso_mdoc", "apple_in_app"]
REQUEST_FORMS = ["request", "dcql_query", "device_request"]
REFUSALS[VERIFY] = [rule for rule in REFUSALS[CREATE] if not rule[2].startswith("CreateVerificationSession.")] + [
    ("api.invalid_request", "send exactly one of", "CreateVerification.session_transcript"),
    ("api.invalid_request", "must be an array of device engagement", "CreateVerification.session_transcript"),
    ("api.invalid_request", "is not one of the relying party's merchants", "CreateVerification.apple_in_app"),
    ("api.invalid_request", "is not for `apple_in_app`", "CreateVerification.reader_key"),
    ("api.invalid_request", "must be an unencrypted private key", "CreateVerification.reader_key"),
    ("api.invalid_request", "is not a supported DeviceRequest", "CreateVerification.device_request"),
    ("api.invalid_request", "can be requested once", "CreateVerificationSession.documents"),
    ("api.invalid_request", "request more than", "CreateVerificationSession.documents"),
    ("api.invalid_request", "must have `document_number`", "CreateVerificationSession.all_documents"),
    ("api.invalid_request", "is not allowed with `apple-in-app`", "CreateVerificationSession.purpose_hint"),
    ("api.invalid_request", "must be 16 to 64 bytes", "AppleInAppHandover.nonce"),
    ("api.invalid_request", "must be 32 bytes", "OpenID4VPHandover.jwk_thumbprint"),
    ("api.invalid_request", "must not have duplicate ids", "DCQLQuery.credentials"),
    ("api.invalid_request", "must each list one credential", "DCQLQuery.credential_sets"),
    ("api.invalid_request", "must list claims of this credential", "DCQLCredential.claim_sets"),
    ("api.invalid_request", "must be alternatives of single claims", "DCQLCredential.claim_sets"),
    ("api.invalid_request", "the only supported value", "DCQLCredential.multiple"),
]
CURSOR = ("api.invalid_request", "`starting_after` must be the id of", "starting_after")
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
    texts = [refusal.get("detail", "")] + [
        f"{error['pointer']} {error['detail']}" for error in refusal.get("errors", [])]
    rules = REFUSALS.get(case.operation.label, []) + [CURSOR]
    return not any(code == known and any(part in text for text in texts) for known, part, _ in rules)


def check_rules_are_said(schemas):
    """Each rule is one of a member that the contract has and describes."""
    for rules in REFUSALS.values():
        for _, _, place in rules:
            schema, member = place.split(".")
            known = schemas[schema]
            if "oneOf" in known:
                known = schemas[known["oneOf"][0]["$ref"].rpartition("/")[2]]
            assert len(known["properties"][member]["description"]) > 20, place


def enforce_rules_in_words(schemas):
    """The rules that most of what is made would break are rules of the schemas here, so that the server is asked for
    more than refusals."""
    def one_of(*members):
        return [
            {"properties": {member: {"not": {"type": "null"}}}, "required": [member]} for member in members
        ]

    for name in ("OpenID4VPResponseData", "PostedResponseData"):
        schemas[name]["oneOf"] = one_of("response", "vp_token", "error")
    schemas["CreateVerification"]["allOf"] = [
        {"oneOf": one_of(*VERIFICATION_FORMS)}, {"oneOf": one_of(*REQUEST_FORMS)},
    ]
    schemas["DocumentRequest"]["anyOf"] = [
        {"properties": {"elements": {"type": "array", "minItems": 1}}, "required": ["elements"]},
        {"properties": {"age_over": {"type": "array", "minItems": 1}}, "required": ["age_over"]},
        {"properties": {"minimum_age": {"type": "integer"}}, "required": ["minimum_age"]},
    ]
    named = {"properties": {"namespace": {"type": "string"}, "identifier": {"type": "string"}, "apple_element": False}}
    schemas["ElementRequest"]["allOf"] = [named | {"required": ["namespace", "identifier"]}]


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """The origins of the relying party `test` are this server's own: pages and wallets' redirects are there."""
    schemas = raw_schema["components"]["schemas"]
    check_rules_are_said(schemas)
    enforce_rules_in_words(schemas)
    session = schemas["CreateVerificationSession"]["properties"]
    session["origin"] = {"enum": [ORIGIN]}
    session["redirect_uri"] = session["return_url"] = {"enum": [ORIGIN + "/done", None]}
    session["apple_merchant_id"] = {"enum": ["merchant.test.mdoc", None]}
    # The few keys that are generated again and again are each good for one body: they would keep all others from being
    # looked at. The other operations have theirs.
    create = raw_schema["paths"]["/v1/verification_sessions"]["post"]
    create["parameters"] = [one for one in create["parameters"] if one["name"] != "Idempotency-Key"]
