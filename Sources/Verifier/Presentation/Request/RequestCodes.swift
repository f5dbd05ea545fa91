import Base

extension Code {
  private static let annexB = "ISO/IEC TS 18013-7, Annex B"
  private static let annexC = "ISO/IEC TS 18013-7, Annex C"

  static let requestProtocolMismatch = Code(
    "request.protocol_mismatch", "The request does not have the form of its protocol", "\(openID), A.1; \(annexC)",
    "Name the protocol that belongs to the request's form.", passes: "The request has the form of its protocol")
  static let requestMediaType = Code(
    "request.media_type", "The reply with the request object has another media type", "RFC 9101, 5.2.3",
    "Reply with `application/oauth-authz-req+jwt`.", passes: "The request object has its media type")
  static let requestLinkMalformed = Code(
    "request.link_malformed", "The link lacks client_id, or has a fragment or conflicting parameters", "RFC 9101, 5",
    "Send client_id with either request_uri or request, each once.", passes: "The link's parameters fit together")
  static let requestAddress = Code(
    "request.uri_invalid", "request_uri or response_uri is missing, not https, or has a fragment",
    "RFC 9101, 5.2; \(openID), 8.2", "Use an https address.", passes: "The verifier's addresses are https")
  static let requestURIMethodUnknown = Code(
    "request.request_uri_method_unknown", "request_uri_method is neither get nor post", "\(openID), 5.1 and 5.10",
    "Write `get` or `post` in lower case, or omit the parameter.", passes: "The method for request_uri is known")
  static let requestLinkSurplus = Code(
    "request.link_surplus", "The link has parameters besides the signed request", "RFC 9101, 5", .ignored,
    passes: "The link has only necessary parameters", warns: true)
  static let requestClientMismatch = Code(
    "request.client_id_mismatch", "client_id of the link differs from client_id of the request object",
    "RFC 9101, 5 and 6.3", "Send the same client_id in both.", passes: "The link and the request name the same client")
  static let requestSignerChain = Code(
    "request.signer_chain", "The certificates in x5c do not form a chain below an authority",
    "HAIP 1.0, 5", "Send the signer's certificate, then each one's issuer, without the authority's own.",
    passes: "The signer's certificates form a chain")
  static let requestParameterMalformed = Code(
    "request.parameter_malformed", "A parameter is missing, or has another type or value", "\(openID), 5.1 to 5.6",
    .form, passes: "Each parameter has its type")
  static let requestParameterUnknown = Code(
    "request.parameter_unknown", "The request has members that are unknown or unused", "\(openID), 5, 5.1 and 6",
    .ignored, passes: "The request has no unknown member", warns: true)
  static let requestParameterObsolete = Code(
    "request.parameter_obsolete", "The request has a parameter of a draft", "\(openID), 5.1 and 5.9",
    "Omit it: the client's prefix is part of client_id, and the query is DCQL.", passes: "No parameter is obsolete")
  static let requestQueryMissing = Code(
    "request.query_missing", "The request does not have dcql_query, or has scope beside it", "\(openID), 5.1",
    "Send dcql_query, and no scope.", passes: "The request has one query")
  static let requestClaimMisplaced = Code(
    "request.claim_misplaced", "The request object has claims of a link or of another token", "RFC 9101, 4 and 10.8",
    "Omit these claims; iss must be client_id.", passes: "The request object has no misplaced claim", warns: true)
  static let requestResponseMode = Code(
    "request.response_mode", "response_mode does not fit the request's protocol", "\(openID), 8.2 and A.2; \(annexB)",
    "Use `direct_post` or `direct_post.jwt` by link, `dc_api` or `dc_api.jwt` over the Digital Credentials API.",
    passes: "The response mode fits the request's protocol")
  static let requestRedirectURI = Code(
    "request.redirect_uri_with_direct_post", "redirect_uri is beside response_mode direct_post", "\(openID), 8.2",
    "Omit redirect_uri from the request. Send it in the HTTP reply to the wallet's response.",
    passes: "There is no redirect_uri beside direct_post")
  static let requestClientSurplus = Code(
    "request.client_id_surplus", "An unsigned request of a page has client_id", "\(openID), A.2", .ignored,
    passes: "Only the page's origin identifies the client", warns: true)
  static let requestClientPrefixUnknown = Code(
    "request.client_id_prefix_unknown", "The prefix of client_id is not supported here", "\(openID), 5.9.3; \(annexB)",
    "Use `x509_hash:` or `x509_san_dns:` and sign, or `redirect_uri:` unsigned.",
    passes: "The prefix of client_id is known")
  static let requestSignatureForbidden = Code(
    "request.signature_forbidden", "A request with the prefix redirect_uri is signed", "\(openID), 5.9.3",
    "Send it unsigned, or use a prefix that a certificate proves.", passes: "The client's prefix allows the signature")
  static let requestSignatureMissing = Code(
    "request.signature_missing", "The client's prefix needs a signature", "\(openID), 5.9.3",
    "Sign the request with the key of the client's certificate.", passes: "The client's prefix has its signature")
  static let requestAgeVerification = Code(
    "request.age_verification_link", "An `av` link has another kind of request", "EU age verification, A.5",
    "Put the unsigned request into the link, with `redirect_uri:` and response_mode `direct_post`.",
    passes: "The link follows the age verification profile")
  static let requestResponseURIForeign = Code(
    "request.response_uri_not_of_client", "response_uri does not belong to the client", "\(openID), 5.9.3",
    "With `redirect_uri:` it is the rest of client_id; with `x509_san_dns:` its host is the name.",
    passes: "The response goes to the client")
  static let requestExpired = Code(
    "request.expired", "The request object is expired, or not valid yet", "RFC 7519, 4.1.4 and 4.1.5",
    "Make a new request; check the server's clock.", passes: "The request object is valid now")
  static let requestIssuedAt = Code(
    "request.issued_at", "The request object is more than a day old, or made in the future", "RFC 7519, 4.1.6",
    "Sign each request afresh; check the server's clock.", passes: "The request object is fresh", warns: true)
  static let requestNonceMalformed = Code(
    "request.nonce_malformed", "nonce is missing, or nonce or state is not URL-safe", "\(openID), 5.2", .random,
    passes: "Nonce and state are well-formed")
  static let requestNonceWeak = Code(
    "request.nonce_weak", "nonce is too short or too long, or repeats too few characters", "\(openID), 5.2 and 14.1",
    .random, passes: "The nonce is long enough", warns: true)
  static let requestWalletNonce = Code(
    "request.wallet_nonce_mismatch", "The request object does not have the wallet's nonce", "\(openID), 5.10.1",
    "Copy wallet_nonce from the wallet's POST, and omit it after GET.", passes: "The request is for this wallet's POST")
  static let requestFormats = Code(
    "request.vp_formats", "client_metadata does not describe the format of mdocs", "\(openID), B.2.2; \(annexB)",
    "Send `vp_formats_supported` with `mso_mdoc`, and COSE's numbers in its lists, ES256 for HAIP.",
    passes: "The verifier says which mdocs it accepts")
  static let requestEncryptionKey = Code(
    "request.encryption_key", "client_metadata has no usable key to encrypt the response to", "\(openID), 5.1 and 8.3",
    "Send only a public key for ECDH-ES in `jwks`, with kid and alg.", passes: "The verifier's key is usable")
  static let requestEncryptionMethod = Code(
    "request.encryption_method", "The verifier's encryption algorithms are unknown", "\(openID), 8.3; \(annexB)",
    "List names such as `A128GCM` and `A256GCM`.", passes: "The verifier's encryption algorithms are known")
  static let requestQueryMalformed = Code(
    "request.dcql_malformed", "dcql_query is malformed", "\(openID), 6, 6.1 and B.2.3", .form,
    passes: "The query is well-formed")
  static let requestQueryID = Code(
    "request.dcql_id", "An id in the query is missing, malformed or a duplicate", "\(openID), 6.1 and 6.3",
    "Use letters, digits, `_` and `-`; each id once.", passes: "Each id in the query is unique")
  static let requestQueryClaims = Code(
    "request.dcql_claims", "A claim's path is a duplicate, or is not a namespace and an element",
    "\(openID), 6.3, B.2.4",
    "Write each path as an array of the namespace and the element's name.", passes: "Each claim refers to an element")
  static let requestQuerySets = Code(
    "request.dcql_sets", "claim_sets or credential_sets is malformed, or contains an unknown id", "\(openID), 6.2, 6.4",
    "Name only ids of the query, in arrays that are not empty.", passes: "The query's sets name its parts")
  static let requestFormatUnsupported = Code(
    "request.format_unsupported", "No query asks for an mdoc", "\(openID), 6.1 and B.2.1",
    "Ask for the format `mso_mdoc`.", passes: "The query asks for an mdoc")
  static let requestDefinitionMalformed = Code(
    "request.presentation_definition", "presentation_definition is malformed", annexB,
    "Send for each document `mso_mdoc`, `limit_disclosure: required` and fields with intent_to_retain.",
    passes: "The presentation definition is well-formed")
  static let requestTransactionDataMalformed = Code(
    "request.transaction_data_malformed", "transaction_data is not an array of encoded objects", "\(openID), 8.4",
    "Encode each object in base64url, with a type and with credential_ids of the query.",
    passes: "The transaction data are well-formed")
  static let requestTransactionDataUnknown = Code(
    "request.transaction_data_unknown", "The wallet does not know the transaction data's type", "\(openID), 8.4",
    "Omit transaction_data: a wallet must refuse unknown types.", passes: "The wallet knows the transaction data")
  static let requestVerifierInfo = Code(
    "request.verifier_info_malformed", "verifier_info is not an array of statements with format and data",
    "\(openID), 5.1", .form, passes: "Statements about the verifier are well-formed")
  static let requestHAIPClient = Code(
    "request.haip_client_id", "The client is not identified by its certificate's hash", "HAIP 1.0, 5", .haip,
    passes: "The client is identified by its certificate's hash")
  static let requestHAIPDelivery = Code(
    "request.haip_delivery", "The link does not lead to a signed request", "HAIP 1.0, 5.1", .haip,
    passes: "The link leads to a signed request")
  static let requestHAIPEncryption = Code(
    "request.haip_encryption", "The response is not encrypted by A128GCM or A256GCM to a key on P-256", "HAIP 1.0, 5",
    .haip, passes: "The verifier offers the profile's encryption")
  static let requestItems = Code(
    "request.items_malformed", "A document's request or deviceRequestInfo is malformed",
    "\(iso), 8.3.2.1.2.1; \(edition2), 10.2", .form, passes: "Each document's request is well-formed")
  static let requestVersion = Code(
    "request.version", "version does not fit the members of the DeviceRequest", "\(edition2), 10.2.2",
    "Use 1.1 with deviceRequestInfo or readerAuthAll, otherwise 1.0.", passes: "The version fits the request",
    warns: true)
  static let requestEncryptionInfo = Code(
    "request.encryption_info", "encryptionInfo is not base64url of a nonce and a key on P-256", annexC,
    "Send `[\"dcapi\", {\"nonce\", \"recipientPublicKey\"}]`, with 16 random bytes or more.",
    passes: "The encryption info is well-formed")
}

extension Code.Remedy {
  fileprivate static let form: Self = "Compare the request with the clause."
  fileprivate static let ignored: Self = "Omit it: wallets ignore it."
  fileprivate static let random: Self = "Encode 16 to 32 random bytes in base64url, fresh for each request."
  fileprivate static let haip: Self = "Follow the profile, or check without `--profile haip`."
}

extension CodeGroup {
  public static let requests = CodeGroup(
    "Requests, of `mdoc verify request`",
    [
      .requestProtocolMismatch, .requestMediaType, .requestLinkMalformed, .requestAddress, .requestURIMethodUnknown,
      .requestLinkSurplus, .requestClientMismatch, .requestSignerChain, .requestParameterMalformed,
      .requestResponseMode, .requestRedirectURI, .requestParameterObsolete, .requestQueryMissing,
      .requestParameterUnknown, .requestClaimMisplaced, .requestClientSurplus, .requestClientPrefixUnknown,
      .requestSignatureForbidden, .requestSignatureMissing, .requestAgeVerification, .requestResponseURIForeign,
      .requestExpired, .requestIssuedAt, .requestNonceMalformed, .requestNonceWeak, .requestWalletNonce,
      .requestFormats, .requestEncryptionKey, .requestEncryptionMethod, .requestQueryMalformed, .requestQueryID,
      .requestQueryClaims, .requestQuerySets, .requestFormatUnsupported, .requestDefinitionMalformed,
      .requestTransactionDataMalformed, .requestTransactionDataUnknown, .requestVerifierInfo, .requestHAIPClient,
      .requestHAIPDelivery, .requestHAIPEncryption, .requestItems, .requestVersion, .requestEncryptionInfo,
    ])
}
