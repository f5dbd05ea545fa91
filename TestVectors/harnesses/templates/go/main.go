// A harness for a verifier in Go: fill in describe and verify, and add the verifier to go.mod.
//
//	go build && mdoc vectors run --exec ./mdoc-harness
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"
)

// Bytes is a binary member: base64url without padding.
type Bytes []byte

func (b *Bytes) UnmarshalText(text []byte) (err error) {
	*b, err = base64.RawURLEncoding.DecodeString(string(text))
	return err
}

// Question is what a case is asked with.
type Question struct {
	Describe       *struct{} `json:"describe"`
	ID             string    `json:"id"`
	ValidationTime time.Time `json:"validation_time"`
	Protocol       string    `json:"protocol"`
	Session        struct {
		Transcript Bytes `json:"transcript"`
		// The reader's ephemeral key for a device MAC: the scalar, and the uncompressed point. Empty without it.
		ReaderKey       Bytes `json:"reader_key"`
		ReaderPublicKey Bytes `json:"reader_public_key"`
	} `json:"session"`
	Request struct {
		Documents []struct {
			DocType string `json:"doc_type"`
		} `json:"documents"`
	} `json:"request"`
	TrustAnchors []string `json:"trust_anchors"`
	Anchors      []struct {
		Name        string `json:"name"`
		Certificate Bytes  `json:"certificate"`
	} `json:"anchors"`
	Policy map[string]any `json:"policy"`
	Input  Bytes          `json:"input"`
}

// Verdict is "accepted", "rejected" with the verifier's own error as a note, or "unsupported" with a reason.
type Verdict struct {
	ID      string `json:"id,omitempty"`
	Verdict string `json:"verdict"`
	Note    string `json:"note,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

func describe() any {
	return map[string]any{
		"name":          "my-verifier",
		"version":       "0.1.0",
		"language":      runtime.Version(),
		"profiles":      []string{"core"},
		"leaves":        []string{"strict", "test-certificates", "revocation", "minimum-age", "all-documents", "anchors", "acceptance"},
		"use":           "Verify with the trust anchors, the transcript, the time and the document type.",
		"documentation": "https://pkg.go.dev/example.org/my-verifier",
	}
}

// verify judges one DeviceResponse with the verifier's strictest documented use. Its errors are rejections; a panic is
// reported as a crash.
func verify(question Question) Verdict {
	if question.Protocol != "proximity" {
		return Verdict{Verdict: "unsupported", Reason: "mdoc over " + question.Protocol}
	}
	var docTypes []string
	for _, document := range question.Request.Documents {
		docTypes = append(docTypes, document.DocType)
	}
	var anchors [][]byte
	for _, anchor := range question.Anchors {
		for _, name := range question.TrustAnchors {
			if anchor.Name == name {
				anchors = append(anchors, anchor.Certificate)
			}
		}
	}

	// err := verifier.Verify(question.Input, question.Session.Transcript, anchors, question.ValidationTime, docTypes)
	// if err != nil {
	// 	return Verdict{Verdict: "rejected", Note: short(err)}
	// }
	// return Verdict{Verdict: "accepted"}
	_, _ = docTypes, anchors
	return Verdict{Verdict: "unsupported", Reason: "the template judges nothing yet"}
}

func answer(line []byte) any {
	var question Question
	if err := json.Unmarshal(line, &question); err != nil {
		return Verdict{ID: question.ID, Verdict: "error", Reason: short(err)}
	}
	if question.Describe != nil {
		return describe()
	}
	verdict := verify(question)
	verdict.ID = question.ID
	return verdict
}

func short(err error) string {
	text := []rune(err.Error())
	if len(text) > 200 {
		text = text[:200]
	}
	return string(text)
}

func main() {
	// Only answers may stand on standard output: what a library prints there goes to standard error.
	output := json.NewEncoder(os.Stdout)
	os.Stdout = os.Stderr
	input := bufio.NewReader(os.Stdin)
	for {
		line, err := input.ReadBytes('\n')
		if len(line) > 0 {
			if err := output.Encode(answer(line)); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
