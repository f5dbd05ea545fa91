import Base
import Sessions
import Trust

/// Reads `webhooks` of a relying party: the endpoints that are told of events.
///
/// ```json
/// { "webhooks": [ { "id": "main", "url": "https://shop.example/hooks", "secrets": [ { "file": "keys/hook.secret" } ],
///                   "events": ["verification_session.verified"],
///                   "allow": { "hosts": ["shop.internal"], "ports": [8443], "networks": ["10.20.0.0/16"] } } ] }
/// ```
/// A secret, in a file or a variable, is one text: `whsec_` and the base64 of 24 to 64 bytes. Each secret signs.
/// Without `events` the endpoint is told of events of all types.
struct ConfiguredWebhooks {
  let secrets: ConfiguredSecrets

  func all(of party: Schema.Object) throws(Schema.Fault) -> [WebhookEndpoint] {
    var endpoints: [WebhookEndpoint] = []
    for entry in try party.objects("webhooks") {
      let id = try id(entry)
      guard !endpoints.contains(where: { $0.id == id }) else { throw entry.fault("id", "\"\(id)\" is there twice") }
      let targets = try targets(entry)
      endpoints.append(
        WebhookEndpoint(
          id: id, url: try url(entry, targets), secrets: try secrets(entry), types: try types(entry), targets: targets))
    }
    guard endpoints.count <= Limits.webhooks else {
      throw party.fault("webhooks", "may have \(Limits.webhooks) at most")
    }
    return endpoints
  }

  private func id(_ entry: Schema.Object) throws(Schema.Fault) -> String {
    let id = try entry.text("id")
    guard WebhookEndpoint.isID(id) else {
      throw entry.fault(
        "id", "must have at most \(Limits.webhookIDCharacters) letters, digits, and - _ .")
    }
    return id
  }

  /// The endpoint's URL, checked as far as is possible without resolving its name.
  private func url(_ entry: Schema.Object, _ targets: InternalTargets) throws(Schema.Fault) -> String {
    let url = try entry.text("url")
    do throws(FetchError) {
      _ = try ListAddress(url, allowing: DeliveryAttempt.rules(in: .live, targets))
      return url
    } catch {
      guard case .notAllowed(let reason) = error else { throw entry.fault("url", "is no address") }
      throw entry.fault("url", reason)
    }
  }

  /// The internal targets of `allow`. A named host may be in any private network. Other networks, of this machine or of
  /// the link, must be named themselves.
  private func targets(_ entry: Schema.Object) throws(Schema.Fault) -> InternalTargets {
    guard let allow = try entry.object("allow") else { return .none }
    var targets = InternalTargets()
    let given = allow.value("ports") ?? []
    guard let ports = given.array else { throw allow.fault("ports", "must be a list") }
    for (index, json) in ports.enumerated() {
      guard let port = json.integer.flatMap({ UInt16(exactly: $0) }), port > 0 else {
        throw allow.fault("ports/\(index)", "must be a whole number from 1 to 65535")
      }
      targets.ports.insert(port)
    }
    for (index, text) in try allow.texts("networks").enumerated() {
      guard let network = AddressRange(text) else {
        throw allow.fault("networks/\(index)", "must be a network or an address, such as 10.20.0.0/16 or 10.20.0.7")
      }
      targets.networks.append(network)
    }
    let hosts = try allow.texts("hosts").map { $0.lowercased() }
    guard !hosts.isEmpty else { return targets }
    targets.networks += AddressGuard.privateNetworks
    let address = try? ListAddress(entry.text("url"), allowing: DeliveryAttempt.rules(in: .live, targets))
    guard address.map({ hosts.contains($0.host) }) ?? true else {
      throw allow.fault("hosts", "has not the host of `url`")
    }
    return targets
  }

  private func secrets(_ entry: Schema.Object) throws(Schema.Fault) -> [WebhookSecret] {
    guard let list = try entry.required("secrets").array, (1...Limits.webhookSecrets).contains(list.count) else {
      throw entry.fault("secrets", "must be a list of 1 to \(Limits.webhookSecrets) secrets")
    }
    var secrets: [WebhookSecret] = []
    for (index, json) in list.enumerated() {
      let source = try self.secrets.secret(json, at: "\(entry.pointer)/secrets/\(index)")
      guard let secret = source.bytes.withUnsafeBytes({ WebhookSecret(content: $0) }) else {
        throw entry.fault("secrets/\(index)", "\(source.name) is not whsec_ and the base64 of 24 to 64 bytes")
      }
      secrets.append(secret)
    }
    return secrets
  }

  private func types(_ entry: Schema.Object) throws(Schema.Fault) -> Set<EventType> {
    guard let names = try entry.ifAny("events", entry.texts) else { return Set(EventType.allCases) }
    var types: Set<EventType> = []
    for (index, name) in names.enumerated() {
      guard let type = EventType(rawValue: name) else {
        let known = EventType.allCases.map(\.rawValue).joined(separator: ", ")
        throw entry.fault("events/\(index)", "must be one of \(known)")
      }
      types.insert(type)
    }
    return types
  }
}
