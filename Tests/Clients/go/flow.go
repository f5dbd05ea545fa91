// The main flow by the Go client of openapi-generator: replies are read by their types only, and no JSON by hand.
//
// MDOC_URL is a server in test mode behind the relay, MDOC_ORIGIN that server's own origin, MDOC_KEY its API key,
// MDOC_HOOKS the folder of the webhooks that came, and MDOC_HOOK_SECRET what signs them.
package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"mdoc"
)

const (
	mdl       = "org.iso.18013.5.1.mDL"
	namespace = "org.iso.18013.5.1"
	unknown   = "vs_AAAAAAAAAAAAAAAAAAAAAA"
	later     = "later_value"
)

var background = context.Background()

func check(holds bool, found ...any) {
	if !holds {
		panic(fmt.Sprintf("%+v", found))
	}
}

func must[Value any](value Value, _ *http.Response, err error) Value {
	if err != nil {
		var refusal *mdoc.GenericOpenAPIError
		if errors.As(err, &refusal) {
			panic(fmt.Sprintf("%v: %s", err, refusal.Body()))
		}
		panic(err)
	}
	return value
}

// problem is what a call is refused with, by its type.
func problem(reply *http.Response, err error, status int) mdoc.Problem {
	var refusal *mdoc.GenericOpenAPIError
	check(errors.As(err, &refusal), err)
	found, isProblem := refusal.Model().(mdoc.Problem)
	check(isProblem && reply.StatusCode == status && int(found.GetStatus()) == status, refusal.Model(), reply.StatusCode)
	check(found.GetDetail() != "" && found.GetRequestId() != "", found)
	return found
}

func clientWith(token, path string) *mdoc.APIClient {
	configuration := mdoc.NewConfiguration()
	configuration.Servers = mdoc.ServerConfigurations{{URL: os.Getenv("MDOC_URL") + path}}
	configuration.AddDefaultHeader("Authorization", "Bearer "+token)
	return mdoc.NewAPIClient(configuration)
}

func asking(protocol mdoc.PresentationProtocol) mdoc.CreateVerificationSession {
	element := mdoc.NewElementRequest()
	if protocol == mdoc.PRESENTATIONPROTOCOL_APPLE_IN_APP {
		element.SetAppleElement("givenName")
	} else {
		element.SetNamespace(namespace)
		element.SetIdentifier("given_name")
	}
	document := mdoc.NewDocumentRequest(mdl)
	document.SetElements([]mdoc.ElementRequest{*element})
	document.SetAgeOver([]int64{21})
	body := mdoc.NewCreateVerificationSession([]mdoc.PresentationProtocol{protocol})
	body.SetDocuments([]mdoc.DocumentRequest{*document})
	if strings.HasPrefix(string(protocol), "org-iso") || strings.HasPrefix(string(protocol), "openid4vp-v1") {
		body.SetOrigin(os.Getenv("MDOC_ORIGIN"))
	}
	body.SetClientReferenceId("order-17")
	return *body
}

// isOf says whether a request is of the type that its protocol has.
func isOf(protocol mdoc.PresentationProtocol, request mdoc.WalletRequest) bool {
	switch protocol {
	case mdoc.PRESENTATIONPROTOCOL_APPLE_IN_APP:
		return request.AppleInAppRequest != nil
	case mdoc.PRESENTATIONPROTOCOL_ORG_ISO_MDOC:
		return request.MdocRequest != nil
	case mdoc.PRESENTATIONPROTOCOL_OPENID4VP_V1_UNSIGNED:
		return request.OpenID4VPRequest != nil
	case mdoc.PRESENTATIONPROTOCOL_OPENID4VP_V1_SIGNED:
		return request.SignedRequest != nil
	case mdoc.PRESENTATIONPROTOCOL_OPENID4VP_V1_MULTISIGNED:
		return request.MultisignedRequest != nil
	case mdoc.PRESENTATIONPROTOCOL_ISO_18013_5_PROXIMITY:
		return request.ProximityRequest != nil
	default:
		return request.LinkRequest != nil
	}
}

func create(client *mdoc.APIClient, protocol mdoc.PresentationProtocol, key string) *mdoc.VerificationSession {
	call := client.SessionsAPI.CreateVerificationSession(background).CreateVerificationSession(asking(protocol))
	if key != "" {
		call = call.IdempotencyKey(key)
	}
	session := must(call.Execute())
	check(session.GetStatus() == "requires_input" && session.GetClientSecret() != "", session)
	check(session.Result.Get() == nil && session.LastError.Get() == nil, session)
	check(isOf(protocol, session.GetRequests()[0]), protocol, session)
	return session
}

// response is what the mock wallet responds, by the type that submitting takes.
func response(client *mdoc.APIClient, id string, variant mdoc.MockVariant) mdoc.SubmitVerificationSession {
	body := mdoc.NewCreateMockResponse(id)
	body.SetVariant(variant)
	return *must(client.TestingAPI.CreateMockResponse(background).CreateMockResponse(*body).Execute())
}

func verified(client *mdoc.APIClient, protocol mdoc.PresentationProtocol) *mdoc.VerificationSession {
	id := create(client, protocol, "").GetId()
	submit := client.SessionsAPI.SubmitVerificationSession(background, id).
		SubmitVerificationSession(response(client, id, mdoc.MOCKVARIANT_GOOD))
	done := must(submit.Execute())
	check(done.GetStatus() == "verified" && done.GetClientReferenceId() == "order-17", done)
	result := done.GetResult()
	document := result.GetDocuments()[0]
	values := any(document.GetElements()[namespace]).(map[string]any)
	_, isText := values["given_name"].(string)
	issuer := document.GetIssuer()
	check(isText && issuer.GetCountry() == "US", document)
	age := document.GetAgeOver()[0]
	check(age.GetThreshold() == 21 && age.GetAnswer(), age)
	about := done.GetReport()
	report := must(client.ReportsAPI.GetVerificationReport(background, about.GetId()).Execute())
	check(len(report.GetChecks()) > 0 && len(report.GetDocuments()) > 0, report)
	_, reply, err := submit.Execute()
	again := problem(reply, err, 409)
	check(again.GetCode() == "session.already_used", again)
	return done
}

func failed(client *mdoc.APIClient) {
	id := create(client, mdoc.PRESENTATIONPROTOCOL_ORG_ISO_MDOC, "").GetId()
	done := must(client.SessionsAPI.SubmitVerificationSession(background, id).
		SubmitVerificationSession(response(client, id, mdoc.MOCKVARIANT_ELEMENT_CHANGED)).Execute())
	failure := done.LastError.Get()
	check(done.GetStatus() == "failed" && done.Result.Get() == nil, done)
	check(failure.GetCode() == "mdoc.digest.mismatch" && len(failure.GetReasons()) > 0, failure)
}

func problems(client *mdoc.APIClient) {
	_, reply, err := client.SessionsAPI.GetVerificationSession(background, unknown).Execute()
	found := problem(reply, err, 404)
	check(found.GetCode() == "session.not_found", found)
	_, reply, err = clientWith("nobody", "").SessionsAPI.ListVerificationSessions(background).Execute()
	found = problem(reply, err, 401)
	check(found.GetCode() == "api.unauthenticated", found)
	app := clientWith(create(client, mdoc.PRESENTATIONPROTOCOL_APPLE_IN_APP, "").GetClientSecret(), "")
	_, reply, err = app.SessionsAPI.ListVerificationSessions(background).Execute()
	found = problem(reply, err, 403)
	check(found.GetCode() == "api.forbidden", found)
	nothing := asking(mdoc.PRESENTATIONPROTOCOL_ORG_ISO_MDOC)
	nothing.SetDocuments([]mdoc.DocumentRequest{*mdoc.NewDocumentRequest(mdl)})
	_, reply, err = client.SessionsAPI.CreateVerificationSession(background).CreateVerificationSession(nothing).Execute()
	found = problem(reply, err, 400)
	check(found.GetErrors()[0].GetPointer() == "/documents/0", found)
}

// retried: the same request with the same key is done once; another with that key is refused.
func retried(client *mdoc.APIClient) {
	key := fmt.Sprintf("go-%d", time.Now().UnixNano())
	first := create(client, mdoc.PRESENTATIONPROTOCOL_ORG_ISO_MDOC, key)
	check(create(client, mdoc.PRESENTATIONPROTOCOL_ORG_ISO_MDOC, key).GetId() == first.GetId(), first)
	_, reply, err := client.SessionsAPI.CreateVerificationSession(background).IdempotencyKey(key).
		CreateVerificationSession(asking(mdoc.PRESENTATIONPROTOCOL_OPENID4VP_V1_UNSIGNED)).Execute()
	found := problem(reply, err, 422)
	check(found.GetCode() == "api.idempotency_key_reused", found)
}

func canceled(client *mdoc.APIClient) {
	session := create(client, mdoc.PRESENTATIONPROTOCOL_APPLE_IN_APP, "")
	app := clientWith(session.GetClientSecret(), "")
	seen := must(app.SessionsAPI.GetVerificationSession(background, session.GetId()).Execute())
	check(seen.GetStatus() == "requires_input" && !seen.HasClientReferenceId(), seen)
	declined := mdoc.NewCancelVerificationSession()
	declined.SetReason(mdoc.CANCELREASON_DECLINED)
	seen = must(app.SessionsAPI.CancelVerificationSession(background, session.GetId()).
		CancelVerificationSession(*declined).Execute())
	check(seen.LastError.Get().GetCode() == "wallet.access_denied", seen)
}

func listed(client *mdoc.APIClient, session *mdoc.VerificationSession) {
	page := must(client.SessionsAPI.ListVerificationSessions(background).Limit(1).Execute())
	last, found, count := "", false, 0
	for {
		for _, one := range page.GetData() {
			found = found || one.GetId() == session.GetId()
			check(one.GetId() != last, last)
			last = one.GetId()
			count++
		}
		if found || !page.GetHasMore() {
			break
		}
		page = must(client.SessionsAPI.ListVerificationSessions(background).Limit(5).StartingAfter(last).Execute())
	}
	check(found && count > 1, count)
	for _, one := range must(client.EventsAPI.ListEvents(background).Execute()).GetData() {
		if data := one.GetData(); data.GetId() == session.GetId() {
			event := must(client.EventsAPI.GetEvent(background, one.GetId()).Execute())
			check(event.GetType() == "verification_session.verified", event)
			return
		}
	}
	panic("no event")
}

// genuine says whether a webhook comes from the server: one of its signatures is right, and it is at most five minutes
// old.
func genuine(secret string, headers http.Header, body []byte, now time.Time) bool {
	sent, err := strconv.ParseInt(headers.Get("webhook-timestamp"), 10, 64)
	age := now.Sub(time.Unix(sent, 0))
	if err != nil || age > 5*time.Minute || age < -5*time.Minute {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.", headers.Get("webhook-id"), sent)
	mac.Write(body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, one := range strings.Fields(headers.Get("webhook-signature")) {
		if hmac.Equal([]byte(expected), []byte(one)) {
			return true
		}
	}
	return false
}

// told: the webhook of that session came, is genuine, and holds an event.
func told(session *mdoc.VerificationSession) {
	secret, now := os.Getenv("MDOC_HOOK_SECRET"), time.Now()
	for turn := 0; turn < 100; turn++ {
		files, _ := filepath.Glob(os.Getenv("MDOC_HOOKS") + "/*")
		for _, file := range files {
			content, err := os.ReadFile(file)
			check(err == nil, err)
			head, body, _ := bytes.Cut(content, []byte("\n\n"))
			headers := http.Header{}
			for _, line := range strings.Split(string(head), "\n") {
				name, value, _ := strings.Cut(line, ": ")
				headers.Add(name, value)
			}
			var event mdoc.Event
			check(json.Unmarshal(body, &event) == nil, string(body))
			if data := event.GetData(); data.GetId() == session.GetId() {
				check(event.GetType() == "verification_session.verified", event)
				check(genuine(secret, headers, body, now), event)
				check(!genuine(secret, headers, append([]byte{' '}, body...), now), event)
				check(!genuine(secret, headers, body, now.Add(10*time.Minute)), event)
				return
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	panic("no webhook came")
}

// fromLater: the replies of a later version, with members and values that this client does not know, are read.
func fromLater(client *mdoc.APIClient, session *mdoc.VerificationSession) {
	seen := must(client.SessionsAPI.GetVerificationSession(background, session.GetId()).Execute())
	check(seen.GetId() == session.GetId() && seen.GetStatus() == later, seen)
	failures := 0
	for _, one := range must(client.SessionsAPI.ListVerificationSessions(background).Execute()).GetData() {
		check(one.GetStatus() == later, one)
		if failure := one.LastError.Get(); failure != nil {
			check(failure.GetCode() == later, failure)
			failures++
		}
	}
	check(failures > 0, failures)
	events := must(client.EventsAPI.ListEvents(background).Execute()).GetData()
	check(len(events) > 0, events)
	for _, event := range events {
		data := event.GetData()
		check(event.GetType() == later && data.GetStatus() == later, event)
	}
	about := session.GetReport()
	for _, one := range must(client.ReportsAPI.GetVerificationReport(background, about.GetId()).Execute()).GetChecks() {
		check(one.GetCode() == later && one.GetOutcome() == later, one)
	}
	_, reply, err := client.SessionsAPI.GetVerificationSession(background, unknown).Execute()
	found := problem(reply, err, 404)
	check(found.GetCode() == later, found)
	made := must(client.SessionsAPI.CreateVerificationSession(background).
		CreateVerificationSession(asking(mdoc.PRESENTATIONPROTOCOL_ORG_ISO_MDOC)).Execute())
	check(made.GetStatus() == later && made.GetRequests()[0].MdocRequest != nil, made)
}

func main() {
	client := clientWith(os.Getenv("MDOC_KEY"), "")
	create(client, mdoc.PRESENTATIONPROTOCOL_ISO_18013_5_PROXIMITY, "")
	protocols := []mdoc.PresentationProtocol{
		mdoc.PRESENTATIONPROTOCOL_APPLE_IN_APP, mdoc.PRESENTATIONPROTOCOL_ORG_ISO_MDOC,
		mdoc.PRESENTATIONPROTOCOL_OPENID4VP_V1_UNSIGNED, mdoc.PRESENTATIONPROTOCOL_OPENID4VP_V1_SIGNED,
		mdoc.PRESENTATIONPROTOCOL_OPENID4VP_V1_MULTISIGNED, mdoc.PRESENTATIONPROTOCOL_OPENID4VP,
		mdoc.PRESENTATIONPROTOCOL_OPENID4VP_ISO_18013_7_ANNEX_B,
	}
	var session *mdoc.VerificationSession
	for _, protocol := range protocols {
		session = verified(client, protocol)
	}
	failed(client)
	problems(client)
	retried(client)
	canceled(client)
	listed(client, session)
	told(session)
	fromLater(clientWith(os.Getenv("MDOC_KEY"), "/later"), session)
	fmt.Printf("Go: %d protocols, errors, retry, lists, a webhook, and replies of a later version\n", len(protocols)+1)
}
