"""The main flow by the client of openapi-python-client: replies are read by its types only, and no JSON by hand.

MDOC_URL is a server in test mode behind the relay, MDOC_ORIGIN that server's own origin, MDOC_KEY its API key,
MDOC_HOOKS the folder of the webhooks that came, and MDOC_HOOK_SECRET what signs them.
"""

import base64
import hashlib
import hmac
import json
import os
import pathlib
import time

from mdoc_client import AuthenticatedClient
from mdoc_client.api.events import get_event, list_events
from mdoc_client.api.reports import get_verification_report
from mdoc_client.api.sessions import (
    cancel_verification_session,
    create_verification_session,
    get_verification_session,
    list_verification_sessions,
    submit_verification_session,
)
from mdoc_client.api.testing import create_mock_response
from mdoc_client.models import (
    AppleInAppRequest,
    CancelReason,
    CancelVerificationSession,
    CreateMockResponse,
    CreateVerificationSession,
    DocumentRequest,
    ElementRequest,
    Event,
    EventList,
    LinkRequest,
    MdocRequest,
    MockVariant,
    MultisignedRequest,
    OpenID4VPRequest,
    PresentationProtocol,
    Problem,
    ProximityRequest,
    SignedRequest,
    VerificationReport,
    VerificationSession,
    VerificationSessionList,
)
from mdoc_client.types import UNSET

MDL = "org.iso.18013.5.1.mDL"
NAMESPACE = "org.iso.18013.5.1"
UNKNOWN = "vs_" + "A" * 22
LATER = "later_value"
URL, ORIGIN, KEY = (os.environ[name] for name in ("MDOC_URL", "MDOC_ORIGIN", "MDOC_KEY"))
REQUESTS = {
    PresentationProtocol.APPLE_IN_APP: AppleInAppRequest,
    PresentationProtocol.ORG_ISO_MDOC: MdocRequest,
    PresentationProtocol.OPENID4VP_V1_UNSIGNED: OpenID4VPRequest,
    PresentationProtocol.OPENID4VP_V1_SIGNED: SignedRequest,
    PresentationProtocol.OPENID4VP_V1_MULTISIGNED: MultisignedRequest,
    PresentationProtocol.OPENID4VP: LinkRequest,
    PresentationProtocol.OPENID4VP_ISO_18013_7_ANNEX_B: LinkRequest,
    PresentationProtocol.ISO_18013_5_PROXIMITY: ProximityRequest,
}


def client_with(token, path=""):
    return AuthenticatedClient(base_url=URL + path, token=token, raise_on_unexpected_status=True)


client = client_with(KEY)


def of(kind, reply, status=200):
    """The reply's value, which must be of this type."""
    assert reply.status_code == status, (reply.status_code, reply.content)
    assert isinstance(reply.parsed, kind), (kind, reply.content)
    return reply.parsed


def asking(protocol, elements=True):
    in_app = protocol == PresentationProtocol.APPLE_IN_APP
    by_page = protocol.value.startswith(("org-iso", "openid4vp-v1"))
    element = ElementRequest(apple_element="givenName")
    if not in_app:
        element = ElementRequest(namespace=NAMESPACE, identifier="given_name")
    document = DocumentRequest(doc_type=MDL, elements=[element], age_over=[21])
    return CreateVerificationSession(
        protocols=[protocol],
        documents=[document if elements else DocumentRequest(doc_type=MDL)],
        origin=ORIGIN if by_page else UNSET,
        client_reference_id="order-17",
    )


def create(protocol, key=UNSET):
    reply = create_verification_session.sync_detailed(client=client, body=asking(protocol), idempotency_key=key)
    session = of(VerificationSession, reply, 201)
    assert session.status == "requires_input" and session.client_secret and not session.result and not session.last_error
    assert isinstance(session.requests[0], REQUESTS[protocol]), session.requests
    assert session.requests[0].protocol == protocol.value
    return session


def submit(session, variant=MockVariant.GOOD):
    """The reply to what the mock wallet responds, by the type that submitting takes."""
    body = CreateMockResponse(session=session.id, variant=variant)
    response = create_mock_response.sync_detailed(client=client, body=body).parsed
    return submit_verification_session.sync_detailed(session.id, client=client, body=response), response


def verified(protocol):
    session = create(protocol)
    reply, response = submit(session)
    done = of(VerificationSession, reply)
    assert done.status == "verified" and done.client_reference_id == "order-17", done
    document = done.result.documents[0]
    assert document.doc_type == MDL and isinstance(document.elements[NAMESPACE]["given_name"], str)
    age = document.age_over[0]
    assert age.threshold == 21 and age.answer is True and age.proved_by.identifier.startswith("age_over_")
    assert document.issuer.country == "US" and document.validity.signed < document.validity.valid_until
    report = of(VerificationReport, get_verification_report.sync_detailed(done.report.id, client=client))
    assert report.checks + report.documents[0].checks
    return done, response


def failed():
    session = create(PresentationProtocol.ORG_ISO_MDOC)
    done = of(VerificationSession, submit(session, MockVariant.ELEMENT_CHANGED)[0])
    assert done.status == "failed" and not done.result
    assert done.last_error.code == "mdoc.digest.mismatch", done.last_error
    assert done.last_error.code in [reason.code for reason in done.last_error.reasons]


def problems(session, response):
    """Every class of error, by its type."""
    reply = submit_verification_session.sync_detailed(session.id, client=client, body=response)
    problem = of(Problem, reply, 409)
    assert problem.code == "session.already_used" and problem.status == 409 and problem.detail and problem.request_id
    problem = of(Problem, get_verification_session.sync_detailed(UNKNOWN, client=client), 404)
    assert problem.code == "session.not_found"
    problem = of(Problem, list_verification_sessions.sync_detailed(client=client_with("nobody")), 401)
    assert problem.code == "api.unauthenticated"
    app = client_with(create(PresentationProtocol.APPLE_IN_APP).client_secret)
    problem = of(Problem, list_verification_sessions.sync_detailed(client=app), 403)
    assert problem.code == "api.forbidden"
    nothing = asking(PresentationProtocol.ORG_ISO_MDOC, elements=False)
    problem = of(Problem, create_verification_session.sync_detailed(client=client, body=nothing), 400)
    assert problem.errors[0].pointer == "/documents/0", problem.errors


def retried():
    """The same request with the same key is done once; another with that key is refused."""
    key = f"python-{time.time_ns()}"
    first, second = (create(PresentationProtocol.ORG_ISO_MDOC, key) for _ in range(2))
    assert first.id == second.id
    other = asking(PresentationProtocol.OPENID4VP_V1_UNSIGNED)
    reply = create_verification_session.sync_detailed(client=client, body=other, idempotency_key=key)
    assert of(Problem, reply, 422).code == "api.idempotency_key_reused"


def canceled():
    session = create(PresentationProtocol.APPLE_IN_APP)
    app = client_with(session.client_secret)
    seen = of(VerificationSession, get_verification_session.sync_detailed(session.id, client=app))
    assert seen.status == "requires_input" and seen.client_reference_id is UNSET
    declined = CancelVerificationSession(reason=CancelReason.DECLINED)
    reply = cancel_verification_session.sync_detailed(session.id, client=app, body=declined)
    assert of(VerificationSession, reply).last_error.code == "wallet.access_denied"


def listed(session):
    page = of(VerificationSessionList, list_verification_sessions.sync_detailed(client=client, limit=1))
    ids = [one.id for one in page.data]
    while page.has_more and session.id not in ids:
        reply = list_verification_sessions.sync_detailed(client=client, limit=5, starting_after=ids[-1])
        page = of(VerificationSessionList, reply)
        ids += [one.id for one in page.data]
    assert len(ids) > 1 and len(set(ids)) == len(ids) and session.id in ids
    events = of(EventList, list_events.sync_detailed(client=client)).data
    found = [event for event in events if event.data.id == session.id]
    event = of(Event, get_event.sync_detailed(found[0].id, client=client))
    assert event.type_.endswith(".verified") and event.data.status == "verified", event


def genuine(secret, headers, body, now):
    """Whether a webhook comes from the server: one of its signatures is right, and it is at most five minutes old."""
    if abs(now - int(headers["webhook-timestamp"])) > 300:
        return False
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    return any(hmac.compare_digest(expected, one) for one in headers["webhook-signature"].split(" "))


def told(session):
    """The webhook of that session came, is genuine, and holds an event."""
    secret, now, end = os.environ["MDOC_HOOK_SECRET"], time.time(), time.time() + 10
    while time.time() < end:
        for file in pathlib.Path(os.environ["MDOC_HOOKS"]).iterdir():
            head, _, body = file.read_bytes().partition(b"\n\n")
            lines = [line.partition(": ") for line in head.decode().splitlines()]
            headers = {name.lower(): value for name, _, value in lines}
            event = Event.from_dict(json.loads(body))
            if event.data.id == session.id:
                assert event.data.status == "verified" and event.type_ == "verification_session.verified"
                assert genuine(secret, headers, body, now)
                assert not genuine(secret, headers, body + b" ", now)
                assert not genuine(secret, headers, body, now + 600)
                return
        time.sleep(0.1)
    raise AssertionError("no webhook came")


def later(session):
    """The replies of a later version, with members and values that this client does not know, are read."""
    tomorrow = client_with(KEY, "/later")
    seen = of(VerificationSession, get_verification_session.sync_detailed(session.id, client=tomorrow))
    assert seen.id == session.id and seen.status == LATER
    page = of(VerificationSessionList, list_verification_sessions.sync_detailed(client=tomorrow))
    assert {one.status for one in page.data} == {LATER} and LATER in [one.last_error.code for one in page.data if one.last_error]
    events = of(EventList, list_events.sync_detailed(client=tomorrow))
    assert {(event.type_, event.data.status) for event in events.data} == {(LATER, LATER)}
    report = of(VerificationReport, get_verification_report.sync_detailed(session.report.id, client=tomorrow))
    assert {(check.code, check.outcome) for check in report.checks} == {(LATER, LATER)}
    problem = of(Problem, get_verification_session.sync_detailed(UNKNOWN, client=tomorrow), 404)
    assert problem.code == LATER
    body = asking(PresentationProtocol.ORG_ISO_MDOC)
    made = of(VerificationSession, create_verification_session.sync_detailed(client=tomorrow, body=body), 201)
    assert isinstance(made.requests[0], MdocRequest) and made.status == LATER


create(PresentationProtocol.ISO_18013_5_PROXIMITY)
for protocol in REQUESTS:
    if protocol != PresentationProtocol.ISO_18013_5_PROXIMITY:
        session, response = verified(protocol)
failed()
problems(session, response)
retried()
canceled()
listed(session)
told(session)
later(session)
print(f"Python: {len(REQUESTS)} protocols, errors, retry, lists, a webhook, and replies of a later version")
