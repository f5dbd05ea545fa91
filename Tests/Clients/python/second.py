"""The main flow by openapi-generator's client for Python, with the variables of flow.py: each kind of protocol to its
result, a problem by its type, and the replies of a later version.
"""

import os

from mdoc_openapi import (
    ApiClient,
    ApiException,
    Configuration,
    CreateMockResponse,
    CreateVerificationSession,
    DocumentRequest,
    ElementRequest,
    PresentationProtocol,
    Problem,
    SessionsApi,
    TestingApi,
)

# All but that of the EU's proofs of age, which asks for other documents.
PROTOCOLS = [one for one in PresentationProtocol if "-eu-age-" not in one.value]
UNKNOWN = "vs_" + "A" * 22


def client_at(path):
    client = ApiClient(Configuration(host=os.environ["MDOC_URL"] + path))
    client.set_default_header("Authorization", "Bearer " + os.environ["MDOC_KEY"])
    return client


def asking(protocol):
    element = ElementRequest(namespace="org.iso.18013.5.1", identifier="given_name")
    document = DocumentRequest(doc_type="org.iso.18013.5.1.mDL", elements=[element], age_over=[21])
    by_page = protocol.value.startswith(("org-iso", "openid4vp-v1"))
    origin = os.environ["MDOC_ORIGIN"] if by_page else None
    return CreateVerificationSession(protocols=[protocol], documents=[document], origin=origin)


client = client_at("")
sessions = SessionsApi(client)
for protocol in PROTOCOLS:
    session = sessions.create_verification_session(asking(protocol))
    assert session.requests[0].actual_instance.protocol == protocol.value, session
    if protocol == PresentationProtocol.ISO_MINUS_18013_MINUS_5_MINUS_PROXIMITY:
        continue
    response = TestingApi(client).create_mock_response(CreateMockResponse(session=session.id))
    done = sessions.submit_verification_session(session.id, response)
    assert done.status == "verified", done
    assert done.result.documents[0].elements["org.iso.18013.5.1"]["given_name"], done
try:
    raise AssertionError(sessions.get_verification_session(UNKNOWN))
except ApiException as refusal:
    assert isinstance(refusal.data, Problem) and refusal.data.code == "session.not_found", refusal
later = SessionsApi(client_at("/later")).list_verification_sessions()
assert {one.status for one in later.data} == {"later_value"}, later
print(f"Python by openapi-generator: {len(PROTOCOLS)} protocols, a problem, and replies of a later version")
