"""The generated client in use: what comes back is read by its types alone, and no JSON by hand.

The address and the API key of a server in test mode are in MDOC_URL and MDOC_KEY.
"""

import os

from test_client import AuthenticatedClient
from test_client.api.events import get_event, list_events
from test_client.api.reports import get_verification_report
from test_client.api.sessions import (
    cancel_verification_session,
    create_verification_session,
    get_verification_session,
    list_verification_sessions,
    submit_verification_session,
)
from test_client.api.testing import create_mock_response
from test_client.models import (
    CancelReason,
    CancelVerificationSession,
    CreateInAppSession,
    CreateMockResponse,
    CreateWebSession,
    DocumentRequest,
    ElementRequest,
    Event,
    EventList,
    InAppDriversLicenseAppleElement,
    InAppDriversLicenseAppleElementName,
    InAppDriversLicenseRequest,
    InAppProtocol,
    MockVariant,
    Problem,
    SessionStatus,
    VerificationReport,
    VerificationSession,
    VerificationSessionForClient,
    VerificationSessionList,
    WebProtocol,
)

MDL = "org.iso.18013.5.1.mDL"
NAMESPACE = "org.iso.18013.5.1"
UNKNOWN = "vs_" + "A" * 22
URL = os.environ["MDOC_URL"]
client = AuthenticatedClient(base_url=URL, token=os.environ["MDOC_KEY"], raise_on_unexpected_status=True)


def of(kind, reply, status=200):
    """The reply's value, which must be of this type."""
    assert reply.status_code == status, (reply.status_code, reply.content)
    assert isinstance(reply.parsed, kind), (kind, reply.content)
    return reply.parsed


def create(body):
    return of(VerificationSession, create_verification_session.sync_detailed(client=client, body=body), 201)


def answer(session, variant=MockVariant.GOOD):
    """Of the mock wallet, as the type that submitting takes."""
    body = CreateMockResponse(session=session.id, variant=variant)
    return create_mock_response.sync_detailed(client=client, body=body).parsed


def submit(session, wallet_answer, status=200, kind=VerificationSession):
    reply = submit_verification_session.sync_detailed(session.id, client=client, body=wallet_answer)
    return of(kind, reply, status)


def in_app():
    element = InAppDriversLicenseAppleElement(apple_element=InAppDriversLicenseAppleElementName.GIVENNAME)
    document = InAppDriversLicenseRequest(doc_type=MDL, elements=[element], age_over=[21])
    session = create(
        CreateInAppSession(protocols=[InAppProtocol.APPLE_IN_APP], documents=[document], client_reference_id="order-17")
    )
    assert session.status == SessionStatus.REQUIRES_INPUT and session.result is None and session.last_error is None
    request = session.requests[0]
    assert request.protocol == "apple-in-app" and "givenName" in request.data.documents[0].elements, request
    return session


def verified(session, wallet_answer):
    done = submit(session, wallet_answer)
    assert done.status == SessionStatus.VERIFIED and done.client_reference_id == "order-17"
    document = done.result.documents[0]
    assert document.doc_type == MDL
    assert isinstance(document.elements[NAMESPACE]["given_name"], str)
    age = document.age_over[0]
    assert age.threshold == 21 and age.answer is True and age.proved_by.identifier.startswith("age_over_")
    assert document.issuer.country == "US" and document.validity.signed < document.validity.valid_until
    # Apple's element stands for further names, which not everybody has.
    assert "given_name" not in [missing.identifier for missing in document.missing_elements]
    report = of(VerificationReport, get_verification_report.sync_detailed(done.report.id, client=client))
    assert report.checks + report.documents[0].checks
    return done


def failed():
    document = DocumentRequest(
        doc_type=MDL, elements=[ElementRequest(namespace=NAMESPACE, identifier="given_name", required=False)]
    )
    session = create(CreateWebSession(protocols=[WebProtocol.ORG_ISO_MDOC], documents=[document], origin=URL))
    done = submit(session, answer(session, MockVariant.ELEMENT_CHANGED))
    assert done.status == SessionStatus.FAILED and done.result is None
    assert done.last_error.code == "mdoc.digest.mismatch", done.last_error
    assert done.last_error.code in [reason.code for reason in done.last_error.reasons]


def problems(session, wallet_answer):
    problem = submit(session, wallet_answer, 409, Problem)
    assert problem.code == "session.already_used" and problem.status == 409 and problem.detail and problem.request_id
    problem = of(Problem, get_verification_session.sync_detailed(UNKNOWN, client=client), 404)
    assert problem.code == "session.not_found"
    nobody = AuthenticatedClient(base_url=URL, token="nobody", raise_on_unexpected_status=True)
    problem = of(Problem, list_verification_sessions.sync_detailed(client=nobody), 401)
    assert problem.code == "api.unauthenticated"
    nothing = CreateWebSession(
        protocols=[WebProtocol.ORG_ISO_MDOC], documents=[DocumentRequest(doc_type=MDL)], origin=URL
    )
    problem = of(Problem, create_verification_session.sync_detailed(client=client, body=nothing), 400)
    assert problem.errors[0].pointer == "/documents/0", problem.errors


def canceled():
    session = in_app()
    app = AuthenticatedClient(base_url=URL, token=session.client_secret, raise_on_unexpected_status=True)
    seen = of(VerificationSessionForClient, get_verification_session.sync_detailed(session.id, client=app))
    assert seen.status == SessionStatus.REQUIRES_INPUT and seen.last_error is None
    reply = cancel_verification_session.sync_detailed(session.id, client=client)
    assert of(VerificationSession, reply).status == SessionStatus.CANCELED
    session = in_app()
    app = AuthenticatedClient(base_url=URL, token=session.client_secret, raise_on_unexpected_status=True)
    declined = CancelVerificationSession(reason=CancelReason.DECLINED)
    reply = cancel_verification_session.sync_detailed(session.id, client=app, body=declined)
    assert of(VerificationSessionForClient, reply).last_error.code == "wallet.access_denied"


def lists(session):
    page = of(VerificationSessionList, list_verification_sessions.sync_detailed(client=client, limit=1))
    assert len(page.data) == 1 and page.has_more is True
    rest = list_verification_sessions.sync_detailed(client=client, starting_after=page.data[0].id)
    assert session.id in [one.id for one in of(VerificationSessionList, rest).data]
    events = of(EventList, list_events.sync_detailed(client=client)).data
    found = [event for event in events if event.data.id == session.id]
    event = of(Event, get_event.sync_detailed(found[0].id, client=client))
    assert event.type_.value.endswith(".verified") and event.data.status.value == "verified", event
    assert event.data.last_error is None and event.livemode is False


session = in_app()
wallet_answer = answer(session)
verified(session, wallet_answer)
failed()
problems(session, wallet_answer)
canceled()
lists(session)
print("a session by the types of the generated client: created, answered, read, refused, listed, canceled")
