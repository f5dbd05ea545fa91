import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import mdoc.client.ApiClient;
import mdoc.client.ApiException;
import mdoc.client.JSON;
import mdoc.client.api.EventsApi;
import mdoc.client.api.ReportsApi;
import mdoc.client.api.SessionsApi;
import mdoc.client.api.TestingApi;
import mdoc.client.model.*;

/**
 * The main flow by the Java client of openapi-generator: replies are read by their types only, and no JSON by hand.
 *
 * <p>MDOC_URL is a server in test mode behind the relay, MDOC_ORIGIN that server's own origin, MDOC_KEY its API key,
 * MDOC_HOOKS the folder of the webhooks that came, and MDOC_HOOK_SECRET what signs them.
 */
public final class Flow {
  private static final String MDL = "org.iso.18013.5.1.mDL";
  private static final String NAMESPACE = "org.iso.18013.5.1";
  private static final String UNKNOWN = "vs_" + "A".repeat(22);
  private static final String LATER = "later_value";
  private static final Map<PresentationProtocol, Class<?>> REQUESTS = new LinkedHashMap<>();

  static {
    REQUESTS.put(PresentationProtocol.APPLE_IN_APP, AppleInAppRequest.class);
    REQUESTS.put(PresentationProtocol.ORG_ISO_MDOC, MdocRequest.class);
    REQUESTS.put(PresentationProtocol.OPENID4VP_V1_UNSIGNED, OpenID4VPRequest.class);
    REQUESTS.put(PresentationProtocol.OPENID4VP_V1_SIGNED, SignedRequest.class);
    REQUESTS.put(PresentationProtocol.OPENID4VP_V1_MULTISIGNED, MultisignedRequest.class);
    REQUESTS.put(PresentationProtocol.OPENID4VP, LinkRequest.class);
    REQUESTS.put(PresentationProtocol.OPENID4VP_ISO_18013_7_ANNEX_B, LinkRequest.class);
  }

  private final ApiClient client;
  private final SessionsApi sessions;

  private Flow(String token, String path) {
    client = new ApiClient();
    client.updateBaseUri(System.getenv("MDOC_URL") + path);
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));
    sessions = new SessionsApi(client);
  }

  private static void check(boolean holds, Object found) {
    if (!holds) {
      throw new AssertionError(found);
    }
  }

  private static CreateVerificationSession asking(PresentationProtocol protocol) {
    ElementRequest element = new ElementRequest();
    if (protocol == PresentationProtocol.APPLE_IN_APP) {
      element.appleElement("givenName");
    } else {
      element.namespace(NAMESPACE).identifier("given_name");
    }
    DocumentRequest document = new DocumentRequest().docType(MDL).elements(List.of(element)).ageOver(List.of(21L));
    CreateVerificationSession body =
        new CreateVerificationSession().protocols(new ArrayList<>(List.of(protocol))).documents(List.of(document));
    String name = protocol.getValue();
    if (name.startsWith("org-iso") || name.startsWith("openid4vp-v1")) {
      body.origin(System.getenv("MDOC_ORIGIN"));
    }
    return body.clientReferenceId("order-17");
  }

  private VerificationSession create(PresentationProtocol protocol, String key) throws ApiException {
    VerificationSession session = sessions.createVerificationSession(asking(protocol), key);
    check(session.getStatus().equals("requires_input") && session.getClientSecret() != null, session);
    check(session.getResult() == null && session.getLastError() == null, session);
    Class<?> kind = REQUESTS.getOrDefault(protocol, ProximityRequest.class);
    check(kind.isInstance(session.getRequests().get(0).getActualInstance()), session);
    return session;
  }

  /** What the mock wallet responds, by the type that submitting takes. */
  private SubmitVerificationSession response(VerificationSession session, MockVariant variant) throws ApiException {
    CreateMockResponse body = new CreateMockResponse().session(session.getId()).variant(variant);
    return new TestingApi(client).createMockResponse(body, null);
  }

  private VerificationSession verified(PresentationProtocol protocol) throws ApiException {
    VerificationSession session = create(protocol, null);
    SubmitVerificationSession response = response(session, MockVariant.GOOD);
    VerificationSession done = sessions.submitVerificationSession(session.getId(), response, null);
    check(done.getStatus().equals("verified") && done.getClientReferenceId().equals("order-17"), done);
    VerifiedDocument document = done.getResult().getDocuments().get(0);
    Object values = document.getElements().get(NAMESPACE);
    check(((Map<?, ?>) values).get("given_name") instanceof String, document);
    AgeAnswer age = document.getAgeOver().get(0);
    check(age.getThreshold() == 21 && age.getAnswer(), age);
    check(document.getIssuer().getCountry().equals("US"), document);
    VerificationReport report = new ReportsApi(client).getVerificationReport(done.getReport().getId());
    check(!report.getChecks().isEmpty() && !report.getDocuments().isEmpty(), report);
    check(problem(409, () -> sessions.submitVerificationSession(session.getId(), response, null)).getCode()
        .equals("session.already_used"), session);
    return done;
  }

  private void failed() throws ApiException {
    VerificationSession session = create(PresentationProtocol.ORG_ISO_MDOC, null);
    VerificationSession done =
        sessions.submitVerificationSession(session.getId(), response(session, MockVariant.ELEMENT_CHANGED), null);
    check(done.getStatus().equals("failed") && done.getResult() == null, done);
    LastError error = done.getLastError();
    check(error.getCode().equals("mdoc.digest.mismatch"), error);
    check(error.getReasons().stream().anyMatch(reason -> reason.getCode().equals(error.getCode())), error);
  }

  private interface Call {
    Object run() throws ApiException;
  }

  /** The problem that a call is refused with, by its type. */
  private static Problem problem(int status, Call call) {
    try {
      throw new AssertionError(call.run());
    } catch (ApiException refusal) {
      check(refusal.getCode() == status, refusal);
      try {
        Problem problem = JSON.getDefault().getMapper().readValue(refusal.getResponseBody(), Problem.class);
        check(problem.getStatus() == status && problem.getDetail() != null && problem.getRequestId() != null, problem);
        return problem;
      } catch (java.io.IOException unreadable) {
        throw new AssertionError(unreadable);
      }
    }
  }

  private void problems() throws ApiException {
    Problem problem = problem(404, () -> sessions.getVerificationSession(UNKNOWN, null, null));
    check(problem.getCode().equals("session.not_found"), problem);
    problem = problem(401, () -> new Flow("nobody", "").page(null, null));
    check(problem.getCode().equals("api.unauthenticated"), problem);
    Flow app = new Flow(create(PresentationProtocol.APPLE_IN_APP, null).getClientSecret(), "");
    problem = problem(403, () -> app.page(null, null));
    check(problem.getCode().equals("api.forbidden"), problem);
    CreateVerificationSession nothing =
        asking(PresentationProtocol.ORG_ISO_MDOC).documents(List.of(new DocumentRequest().docType(MDL)));
    problem = problem(400, () -> sessions.createVerificationSession(nothing, null));
    check(problem.getErrors().get(0).getPointer().equals("/documents/0"), problem);
    ApiClient wrong = new Flow(System.getenv("MDOC_KEY"), "").client;
    wrong.setRequestInterceptor(
        wrong.getRequestInterceptor().andThen(request -> request.setHeader("Content-Type", "text/plain")));
    CreateVerificationSession body = asking(PresentationProtocol.ORG_ISO_MDOC);
    problem = problem(415, () -> new SessionsApi(wrong).createVerificationSession(body, null));
    check(problem.getCode().equals("api.unsupported_media_type"), problem);
  }

  /** The same request with the same key is done once; another with that key is refused. */
  private void retried() throws ApiException {
    String key = "java-" + System.nanoTime();
    String first = create(PresentationProtocol.ORG_ISO_MDOC, key).getId();
    check(create(PresentationProtocol.ORG_ISO_MDOC, key).getId().equals(first), first);
    CreateVerificationSession other = asking(PresentationProtocol.OPENID4VP_V1_UNSIGNED);
    Problem problem = problem(422, () -> sessions.createVerificationSession(other, key));
    check(problem.getCode().equals("api.idempotency_key_reused"), problem);
  }

  private void canceled() throws ApiException {
    VerificationSession session = create(PresentationProtocol.APPLE_IN_APP, null);
    SessionsApi app = new Flow(session.getClientSecret(), "").sessions;
    VerificationSession seen = app.getVerificationSession(session.getId(), null, null);
    check(seen.getStatus().equals("requires_input") && seen.getClientReferenceId() == null, seen);
    CancelVerificationSession declined = new CancelVerificationSession().reason(CancelReason.DECLINED);
    seen = app.cancelVerificationSession(session.getId(), null, declined);
    check(seen.getLastError().getCode().equals("wallet.access_denied"), seen);
  }

  /** Without the filters, all of which the generator makes arguments. */
  private VerificationSessionList page(Integer limit, String after) throws ApiException {
    return sessions.listVerificationSessions(limit, after, null, null, null, null, null, null);
  }

  private void listed(VerificationSession session) throws ApiException {
    List<String> ids = new ArrayList<>();
    VerificationSessionList page = page(1, null);
    page.getData().forEach(one -> ids.add(one.getId()));
    while (page.getHasMore() && !ids.contains(session.getId())) {
      page = page(5, ids.get(ids.size() - 1));
      page.getData().forEach(one -> ids.add(one.getId()));
    }
    check(ids.contains(session.getId()) && ids.size() > 1 && new HashSet<>(ids).size() == ids.size(), ids);
    EventsApi events = new EventsApi(client);
    String id = events.listEvents(null, null, null).getData().stream()
        .filter(event -> event.getData().getId().equals(session.getId())).findFirst().orElseThrow().getId();
    Event event = events.getEvent(id);
    check(event.getType().endsWith(".verified") && event.getData().getStatus().equals("verified"), event);
  }

  /** Whether a webhook comes from the server: one of its signatures is right, and it is at most five minutes old. */
  static boolean genuine(String secret, Map<String, String> headers, byte[] body, Instant now) throws Exception {
    String time = headers.get("webhook-timestamp");
    if (Math.abs(now.getEpochSecond() - Long.parseLong(time)) > 300) {
      return false;
    }
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(Base64.getDecoder().decode(secret.substring("whsec_".length())), "HmacSHA256"));
    mac.update((headers.get("webhook-id") + "." + time + ".").getBytes(StandardCharsets.UTF_8));
    byte[] expected = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes(StandardCharsets.UTF_8);
    return Arrays.stream(headers.get("webhook-signature").split(" "))
        .anyMatch(one -> MessageDigest.isEqual(expected, one.getBytes(StandardCharsets.UTF_8)));
  }

  /** The webhook of that session came, is genuine, and holds an event. */
  private static void told(VerificationSession session) throws Exception {
    String secret = System.getenv("MDOC_HOOK_SECRET");
    Instant now = Instant.now();
    for (int turn = 0; turn < 100; turn++) {
      for (java.io.File file : Path.of(System.getenv("MDOC_HOOKS")).toFile().listFiles()) {
        String[] parts = Files.readString(file.toPath()).split("\n\n", 2);
        Map<String, String> headers = new HashMap<>();
        for (String line : parts[0].split("\n")) {
          String[] pair = line.split(": ", 2);
          headers.put(pair[0].toLowerCase(java.util.Locale.ROOT), pair[1]);
        }
        Event event = JSON.getDefault().getMapper().readValue(parts[1], Event.class);
        if (event.getData().getId().equals(session.getId())) {
          check(event.getType().equals("verification_session.verified"), event);
          byte[] body = parts[1].getBytes(StandardCharsets.UTF_8);
          check(genuine(secret, headers, body, now), event);
          check(!genuine(secret, headers, (parts[1] + " ").getBytes(StandardCharsets.UTF_8), now), event);
          check(!genuine(secret, headers, body, now.plusSeconds(600)), event);
          return;
        }
      }
      Thread.sleep(100);
    }
    throw new AssertionError("no webhook came");
  }

  /** The replies of a later version, with members and values that this client does not know, are read. */
  private void later(VerificationSession session) throws ApiException {
    VerificationSession seen = sessions.getVerificationSession(session.getId(), null, null);
    check(seen.getId().equals(session.getId()) && seen.getStatus().equals(LATER), seen);
    List<VerificationSession> page = page(null, null).getData();
    check(page.stream().allMatch(one -> one.getStatus().equals(LATER)), page);
    check(page.stream().anyMatch(one -> one.getLastError() != null && one.getLastError().getCode().equals(LATER)), page);
    List<Event> events = new EventsApi(client).listEvents(null, null, null).getData();
    check(!events.isEmpty() && events.stream().allMatch(event -> event.getType().equals(LATER)), events);
    check(events.stream().allMatch(event -> event.getData().getStatus().equals(LATER)), events);
    VerificationReport report = new ReportsApi(client).getVerificationReport(session.getReport().getId());
    check(report.getChecks().stream().allMatch(one -> one.getCode().equals(LATER) && one.getOutcome().equals(LATER)), report);
    check(problem(404, () -> sessions.getVerificationSession(UNKNOWN, null, null)).getCode().equals(LATER), LATER);
    seen = sessions.createVerificationSession(asking(PresentationProtocol.ORG_ISO_MDOC), null);
    check(seen.getRequests().get(0).getActualInstance() instanceof MdocRequest && seen.getStatus().equals(LATER), seen);
  }

  public static void main(String[] arguments) throws Exception {
    String key = System.getenv("MDOC_KEY");
    Flow flow = new Flow(key, "");
    flow.create(PresentationProtocol.ISO_18013_5_PROXIMITY, null);
    VerificationSession session = null;
    for (PresentationProtocol protocol : REQUESTS.keySet()) {
      session = flow.verified(protocol);
    }
    flow.failed();
    flow.problems();
    flow.retried();
    flow.canceled();
    flow.listed(session);
    told(session);
    new Flow(key, "/later").later(session);
    System.out.println("Java: " + (REQUESTS.size() + 1)
        + " protocols, errors, retry, lists, a webhook, and replies of a later version");
  }
}
