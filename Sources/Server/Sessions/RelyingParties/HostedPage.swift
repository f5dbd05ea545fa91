/// How a relying party appears on the page that this server shows in its name.
package struct HostedPage: Sendable, Hashable {
  package static let colorPattern = "^#[0-9a-f]{6}$"

  /// What people know it by.
  package let name: String
  /// `#rrggbb`, of buttons and links; nil for the page's own.
  package let color: String?
  package let logo: Logo?
  /// Where people read what becomes of their data.
  package let privacyURL: String?

  package init(name: String, color: String? = nil, logo: Logo? = nil, privacyURL: String? = nil) {
    self.name = name
    self.color = color
    self.logo = logo
    self.privacyURL = privacyURL
  }

  package struct Logo: Sendable, Hashable {
    package let mediaType: String
    package let bytes: [UInt8]

    package init(mediaType: String, bytes: [UInt8]) {
      self.mediaType = mediaType
      self.bytes = bytes
    }
  }
}

/// What one session wants of its page.
package struct PageWishes: Sendable, Hashable {
  /// Why the relying party asks, in its own words.
  package let purpose: String?
  /// Where the page sends the person in the end; at one of the relying party's origins.
  package let returnURL: String?

  package init(purpose: String? = nil, returnURL: String? = nil) {
    self.purpose = purpose
    self.returnURL = returnURL
  }

  /// `returnURL` with the session's id in its query, to which the response code is appended.
  func returnAddress(for id: SessionID) -> String? {
    returnURL.map { $0 + ($0.contains("?") ? "&" : "?") + "session=" + id.text }
  }
}

/// Where the page of one session is.
package struct PageAddress: Sendable, Hashable {
  /// Of the page, without a secret.
  package let text: String

  init(publicURL: String, session: SessionAddress) {
    // Identifiers of relying parties and sessions have only characters that need no escape.
    text = "\(publicURL)/verify/\(session.relyingParty)/\(session.id.text)"
  }

  /// With the client secret in the fragment, which browsers send to nobody.
  func unlocked(by secret: ClientSecret) -> String { text + "#" + secret.text }
}
