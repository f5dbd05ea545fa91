import Base

extension MockVariant {
  /// Wrong authorization responses around right presentations (OpenID4VP 1.0, 8.1).
  @MockVariantList static var vpToken: [MockVariant] {
    token("unknown-id", "There is an answer to a query that was not made.") {
      $0.presentations.append(JSON.Member("document_99", $0.presentations.first?.value ?? []))
    }
    token("string", "The answer to a query is a string in place of an array.") {
      $0.changeFirst { $0.array?.first ?? .null }
    }
    token("two-presentations", "A query has two answers.") {
      $0.changeFirst { .array(($0.array ?? []) + ($0.array ?? [])) }
    }
    token("empty-array", "The array of answers to a query is empty.") { $0.changeFirst { _ in [] } }
    token("object", "The answer to a query is an object.") { $0.changeFirst { _ in [[:]] } }
    token("padded", "The answer's base64url is padded.", cases: "D15 D20") {
      $0.changeFirst { [.string(($0.array?.first?.string ?? "") + "=")] }
    }
    token("standard-alphabet", "The answer is in the standard alphabet of base64.", cases: "D15 D20") {
      $0.changeFirst { answers in
        let bytes = answers.array?.first?.string.flatMap(Base64.decodeURLSafe) ?? []
        return [.string(Base64.encode(bytes))]
      }
    }
    token("bare", "`vp_token` is the answer itself, as in Annex B.") {
      $0.otherToken = $0.presentations.first?.value.array?.first
    }
    token("array", "`vp_token` is an array.") { $0.otherToken = .array($0.presentations.map(\.value)) }
    token("absent", "There is no `vp_token`.") { $0.lacksToken = true }
    token("id-missing", "`vp_token` has no answer to the one query.", .vpTokenIncomplete) { $0.presentations = [] }
    MockVariant(
      "vp-token-two-documents", "The DeviceResponse to one query has two documents.", cases: "D16",
      codes: [.documentUnexpected], applicability: .openID4VP,
      .response { $0.documents.append(try $0.anotherDocument("second document", .none)) })
    MockVariant(
      "state-missing", "The answer has no state.", cases: "D17", warnings: [.stateMissing],
      applicability: .openID4VPRedirect, .authorizationResponse { $0.state = nil })
    MockVariant(
      "state-other", "The answer has the state of another session.", cases: "D17", codes: [.stateMismatch],
      applicability: .openID4VPRedirect, .authorizationResponse { $0.state = $0.state.map { String($0.reversed()) } })
  }

  /// Errors that the wallet sends in place of an answer, encrypted as an answer is (OpenID4VP 1.0, 8.3 and 8.5). The
  /// session is canceled.
  @MockVariantList static var walletErrors: [MockVariant] {
    error("access_denied", "The person, or the wallet, declines.", .walletAccessDenied)
    error("invalid_request", "The wallet finds the request invalid.", .walletInvalidRequest)
    error("invalid_client", "The wallet does not accept who asks.", .walletInvalidClient)
    error("vp_formats_not_supported", "The wallet has none of the formats.", .walletFormatsNotSupported)
    error(
      "invalid_request_uri_method", "The wallet does not know the way to fetch the request.",
      .walletInvalidRequestURIMethod)
    error("invalid_transaction_data", "The wallet refuses the transaction data.", .walletInvalidTransactionData)
    error("wallet_unavailable", "There is no wallet.", .walletUnavailable)
    error("org.example.other", "The wallet has an error of its own.", .walletOtherError)
  }

  private static func error(_ name: String, _ summary: String, _ code: Code) -> MockVariant {
    let label = name.map { $0 == "_" || $0 == "." ? "-" : String($0) }.joined()
    return MockVariant(
      "openid4vp-error-\(label)", summary, cases: "D18", codes: [code], applicability: .openID4VPEncrypted,
      .authorizationResponse { $0.error = name })
  }

  private static func token(
    _ name: String, _ summary: String, _ code: Code = .vpTokenMalformed, cases: String = "D15",
    _ change: @escaping MockChange<AuthorizationResponseDraft>
  ) -> MockVariant {
    MockVariant(
      "vp-token-\(name)", summary, cases: cases, codes: [code], applicability: .openID4VP,
      .authorizationResponse(change))
  }
}
