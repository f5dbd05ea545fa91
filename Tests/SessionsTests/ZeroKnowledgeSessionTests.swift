import Base
import Cryptography
import Longfellow
import Mdoc
import Mock
import TestSupport
import Testing

@testable import Sessions

/// Sessions that ask for zero-knowledge proofs, with a wallet that makes them.
@Suite struct ZeroKnowledgeSessionTests {
  private static let protocols: [any WalletProtocol] = [
    AnnexCProtocol(), OpenID4VPWebProtocol(.unsigned), ProximityProtocol(), AnnexBProtocol(),
  ]
  /// One library for all tests, so that each circuit is loaded once.
  private static let circuits = Result {
    try CircuitLibrary(folder: PublishedVectors.folder + "/longfellow/circuits")
  }

  private func creation(_ protocolName: String, zk: JSON, _ more: KeyValuePairs<String, JSON?> = ["age_over": [21]])
    -> JSON
  {
    let wanted = JSON.members(more).object ?? []
    return [
      "protocols": [.string(protocolName)], "origin": .string(WebFixture.origin),
      "documents": [
        .object([JSON.Member("doc_type", .string(DocType.mDL)), JSON.Member("zk", zk)] + wanted)
      ],
    ]
  }

  /// Over OpenID4VP with a compressed plaintext, as Multipaz sends proofs.
  private func answer(_ fixture: WebFixture, _ protocolName: String, zk: JSON) async throws -> JSON {
    let created = try await fixture.service.createSession(creation(protocolName, zk: zk), as: fixture.full).body
    let data = try #require(created["requests"]?.array?.first?["data"])
    let variant = MockVariant.named(protocolName == "org-iso-mdoc" ? "good" : "openid4vp-zip")
    let answer = try fixture.wallet.answer(
      digitalCredential: protocolName, data: data, origin: WebFixture.origin, variant: #require(variant),
      at: fixture.clock.now)
    let id = try #require(created["id"]?.string)
    let body: JSON = ["protocol": .string(protocolName), "data": answer.data]
    let reply = try await fixture.service.submit(body, to: id, as: fixture.full).body
    // Every response consumes the challenge.
    await #expect(throws: ServiceError.self) { try await fixture.service.submit(body, to: id, as: fixture.full) }
    return reply
  }

  @Test(
    .enabled(if: PublishedVectors.areHere, "the published vectors are not here"),
    arguments: ["org-iso-mdoc", "openid4vp-v1-unsigned"], ["allowed", "required"])
  func `a proof is accepted, and its result says so`(protocolName: String, zk: String) async throws {
    let fixture = try WebFixture(Self.protocols, circuits: Self.circuits.get())
    let reply = try await answer(fixture, protocolName, zk: .string(zk))
    #expect(reply["status"] == "verified")
    let document = try #require(reply["result"]?["documents"]?.array?.first)
    #expect(document["proven_by"] == "zero_knowledge")
    #expect(document["device_authentication"] == "zero_knowledge")
    #expect(document["validity"] == .null)
    #expect(document["age_over"]?.array?.first?["answer"] == true)
    #expect(document["elements"]?.object?.isEmpty == true)
  }

  @Test(
    .enabled(if: PublishedVectors.areHere, "the published vectors are not here"),
    arguments: ["org-iso-mdoc", "openid4vp-v1-unsigned"])
  func `a wallet without proofs responds plainly if that is allowed`(protocolName: String) async throws {
    let fixture = try WebFixture(Self.protocols, circuits: Self.circuits.get(), makesProofs: false)
    let reply = try await answer(fixture, protocolName, zk: "allowed")
    #expect(reply["status"] == "verified")
    #expect(reply["result"]?["documents"]?.array?.first?["proven_by"] == "issuer_signature")
  }

  /// A proof of a later hour of the day: if it was accepted, its bundle is verified by the same rule.
  @Test(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"), arguments: [true, false])
  func `evidence keeps whether proofs of the end of the day are accepted`(isAccepted: Bool) async throws {
    let circuits = try Self.circuits.get()
    let key = try EvidenceKey(SecretBytes(copying: [UInt8](repeating: 1, count: EvidenceKey.length)))
    let fixture = try WebFixture(
      Self.protocols, circuits: circuits, acceptsEndOfDay: isAccepted, evidenceKey: key)
    let element: JSON = [
      "namespace": .string(Namespace.mDL), "identifier": "age_over_21", "intent_to_retain": true,
    ]
    let created = try await fixture.service.createSession(
      creation("org-iso-mdoc", zk: "required", ["elements": [element]]), as: fixture.full
    ).body
    let data = try #require(created["requests"]?.array?.first?["data"])
    let id = try #require(created["id"]?.string)
    let answer = try fixture.wallet.answer(
      digitalCredential: "org-iso-mdoc", data: data, origin: WebFixture.origin, at: fixture.clock.now + 3 * 3_600)
    let reply = try await fixture.service.submit(
      ["protocol": "org-iso-mdoc", "data": answer.data], to: id, as: fixture.full
    ).body
    guard isAccepted else {
      #expect(reply["last_error"]?["code"] == "zk.timestamp_in_future")
      return
    }
    #expect(reply["status"] == "verified" && reply["evidence"] == "kept")
    let sealed = try await fixture.service.evidence(of: id, as: fixture.full).bytes
    let bundle = try EvidenceBundle(opening: sealed, with: [key])
    #expect(bundle.acceptsEndOfDay)
    #expect(await bundle.verify(circuits: circuits).fault == nil)
    // A bundle without this member is verified by the strict rule.
    let json = JSON.object((bundle.json.object ?? []).filter { $0.name != "zk_end_of_day" })
    let strict = try EvidenceBundle(opening: key.seal(json.serialized()), with: [key])
    #expect(await strict.verify(circuits: circuits).fault?.code == .evidenceReportMismatch)
  }

  /// Z26, Z66: the request is refused at its creation, with the code and the pointer of the fault.
  @Test func `what cannot be proven is not asked for`() async throws {
    let circuits = CircuitLibrary(Dictionary(uniqueKeysWithValues: KnownCircuit.all.map { ($0, []) }))
    let fixture = try WebFixture(Self.protocols, circuits: circuits)
    func code(
      _ zk: JSON, _ more: KeyValuePairs<String, JSON?> = ["age_over": [21]], by name: String = "org-iso-mdoc",
      in fixture: WebFixture
    ) async -> Code? {
      do throws(ServiceError) {
        _ = try await fixture.service.createSession(creation(name, zk: zk, more), as: fixture.full)
        return nil
      } catch {
        #expect(error.pointers.allSatisfy { $0.pointer == "/documents/0/zk" || $0.pointer == "/documents" })
        return error.code
      }
    }
    func element(_ identifier: JSON, _ namespace: String = Namespace.mDL) -> JSON {
      ["namespace": .string(namespace), "identifier": identifier]
    }
    #expect(await code("required", in: fixture) == nil)
    #expect(await code("off", ["elements": [element("portrait")]], in: fixture) == nil)
    #expect(await code("sometimes", in: fixture) == .apiInvalidRequest)
    #expect(await code(true, in: fixture) == .apiInvalidRequest)
    #expect(await code("allowed", ["elements": [element("portrait")]], in: fixture) == .zkNotProvable)
    let two = [element("sex"), element("DHS_compliance", "org.iso.18013.5.1.aamva")]
    #expect(await code("allowed", ["elements": .array(two)], in: fixture) == .zkNotProvable)
    let five = ["sex", "height", "weight", "eye_colour", "hair_colour"].map { element(.string($0)) }
    #expect(await code("allowed", ["elements": .array(five)], in: fixture) == .zkNotProvable)
    let without = try WebFixture(Self.protocols)
    #expect(await code("allowed", in: without) == .zkCircuitsMissing)
    let strict = try WebFixture(Self.protocols, circuits: circuits, revocation: .requireGood)
    #expect(await code("allowed", in: strict) == .zkNotProvable)
    // Missing circuits are reported first: with circuits, test mode requires no status.
    let strictWithout = try WebFixture(Self.protocols, revocation: .requireGood)
    #expect(await code("allowed", in: strictWithout) == .zkCircuitsMissing)
  }
}

/// Responses that may hold proofs wait for one another, and never for plain ones.
@Suite struct ProofTurnTests {
  @Test func `no more responses than turns run at one time, and each gets its turn`() async {
    let turns = ProofSlots(limit: 2)
    let running = Locked((now: 0, most: 0))
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<50 {
        group.addTask {
          await turns.take(.house)
          running.withLock {
            $0.now += 1
            $0.most = max($0.most, $0.now)
          }
          await Task.yield()
          running.withLock { $0.now -= 1 }
          turns.leave(.house, cost: 0)
        }
      }
    }
    #expect(running.withLock { $0.now } == 0)
    #expect((1...2).contains(running.withLock { $0.most }))
    #expect(turns.waiting == 0)
  }

  @Test func `a relying party's response waits for one of another, not for all`() async {
    let turns = ProofSlots(limit: 1)
    let (a, b) = (Flow(relyingParty: "a"), Flow(relyingParty: "b"))
    let order = Locked<[String]>([])
    await turns.take(a)
    await withTaskGroup(of: Void.self) { group in
      for (index, party) in [a, a, a, b].enumerated() {
        group.addTask {
          await turns.take(party)
          order.withLock { $0.append(party == a ? "a" : "b") }
          turns.leave(party, cost: 100_000_000)
        }
        while turns.waiting <= index { await Task.yield() }
      }
      turns.leave(a, cost: 100_000_000)
    }
    #expect(order.withLock { $0 } == ["b", "a", "a", "a"])
  }

  @Test func `one relying party has half of the slots for responses`() throws {
    let gate = AdmissionGate(limit: 4)
    let (a, b) = (Flow(relyingParty: "a"), Flow(relyingParty: "b"))
    for _ in 0..<2 { try gate.enter(a) }
    #expect(throws: ServiceError.self) { try gate.enter(a) }
    for _ in 0..<2 { try gate.enter(b) }
    gate.leave(a)
    try gate.enter(a)
  }
}
