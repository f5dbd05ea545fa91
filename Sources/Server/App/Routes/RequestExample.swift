import Base

/// A body for the contract that a server in test mode takes as it is, but for ids and envelopes of other sessions.
package struct RequestExample: Sendable {
  let name: String
  let summary: String
  let value: JSON

  package init(_ name: String, _ summary: String, _ value: JSON) {
    self.name = name
    self.summary = summary
    self.value = value
  }

  /// That of the examples' relying party, which test mode has too.
  package static let origin = "https://shop.example"

  static let creations = [
    RequestExample(
      "in_app", "From an iPhone app, by Apple's names.",
      [
        "protocols": ["apple-in-app"],
        "documents": [
          [
            "doc_type": "org.iso.18013.5.1.mDL",
            "elements": [
              ["apple_element": "givenName"],
              ["apple_element": "portrait", "intent_to_retain": true, "retain_days": 7],
            ], "age_over": [21],
          ]
        ], "client_reference_id": "order-17",
      ]),
    RequestExample(
      "web", "From a web page, by the Digital Credentials API.",
      [
        "protocols": ["org-iso-mdoc", "openid4vp-v1-signed"],
        "documents": [
          [
            "doc_type": "org.iso.18013.5.1.mDL",
            "elements": [
              ["namespace": "org.iso.18013.5.1", "identifier": "given_name"],
              ["namespace": "org.iso.18013.5.1", "identifier": "family_name"],
            ], "minimum_age": 18,
          ]
        ], "origin": .string(origin), "metadata": ["till": "4"],
      ]),
    RequestExample(
      "link", "By a link or QR code to a wallet, or a hosted page that shows it.",
      [
        "protocols": ["openid4vp"],
        "documents": [
          [
            "doc_type": "eu.europa.ec.eudi.pid.1",
            "elements": [["namespace": "eu.europa.ec.eudi.pid.1", "identifier": "birth_date"]],
          ],
          [
            "doc_type": "org.iso.18013.5.1.mDL",
            "elements": [["namespace": "org.iso.18013.5.1", "identifier": "birth_date"]],
          ],
        ], "purpose": "To open your account", "return_url": .string(origin + "/done"), "expires_in": 900,
      ]),
    RequestExample(
      "in_person", "With a reader in person.",
      [
        "protocols": ["iso-18013-5-proximity"],
        "documents": [["doc_type": "org.iso.18013.5.1.mDL", "age_over": [18, 21]]], "purpose_hint": "age",
      ]),
  ]

  static let submissions = [
    RequestExample(
      "in_app", "Apple Wallet's response, from an iPhone app.",
      ["protocol": "apple-in-app", "data": ["encrypted_data": "omlhbGdvcml0aG1nQVBQTEUtSFBLRS12MQ"]]),
    RequestExample(
      "web", "A response by the Digital Credentials API, from a web page.",
      ["protocol": "org-iso-mdoc", "data": ["response": "gmVkY2FwaaJjZW5jQ2AgYGpjaXBoZXJUZXh0Q2AgYA"]]),
    RequestExample(
      "declined", "A wallet's own refusal.",
      ["protocol": "openid4vp-v1-signed", "data": ["error": "access_denied"]]),
  ]

  static let walletRequest = RequestExample(
    "nonce", "A wallet that sends its nonce.", ["wallet_nonce": "qPmxiNFCR3QTm19POc8u"])

  static let walletResponse = RequestExample(
    "encrypted", "An encrypted response.", ["response": "eyJhbGciOiJFQ0RILUVTIiwiZW5jIjoiQTI1NkdDTSJ9..AA.AA.AA"])

  static let cancellation = RequestExample(
    "declined", "The person declined in the app.", ["reason": "declined"])
}
