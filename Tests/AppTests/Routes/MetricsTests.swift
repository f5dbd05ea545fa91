import Base
import Longfellow
import TestSupport
import Testing

@testable import App
@testable import Mdoc

/// The counts of `/metrics`, and its exact text format.
@Suite(.onOwnThreads) struct MetricsTests {
  @Test func `a histogram counts cumulatively, and what is above all bounds once`() {
    var histogram = Histogram()
    for seconds in [0.00005, 0.0001, 0.3, 99] { histogram.add(seconds) }
    var text = MetricsWriter()
    text.add("x", "Seconds \\ of\nwork.", by: ["l"], [(["a\"b\\c\n"], histogram)])
    #expect(text.lines[0] == "# HELP x Seconds \\\\ of\\nwork.")
    #expect(text.lines[1] == "# TYPE x histogram")
    let label = "l=\"a\\\"b\\\\c\\n\""
    #expect(text.lines[2] == "x_bucket{\(label),le=\"0.0001\"} 2")
    #expect(text.lines.contains("x_bucket{\(label),le=\"0.25\"} 2"))
    #expect(text.lines.contains("x_bucket{\(label),le=\"0.5\"} 3"))
    #expect(text.lines.contains("x_bucket{\(label),le=\"10\"} 3"))
    #expect(
      text.lines.suffix(3) == [
        "x_bucket{\(label),le=\"+Inf\"} 4", "x_sum{\(label)} \(histogram.sum)", "x_count{\(label)} 4",
      ])
  }

  @Test func `a verification is measured stage by stage, and so is the store`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession()
      #expect(try await bed.submit(bed.mockAnswer(session), to: session).json["status"] == "verified")
      let refused = try await bed.createSession()
      let broken: JSON = ["protocol": "apple-in-app", "data": ["encrypted_data": "AAAA"]]
      #expect(try await bed.submit(broken, to: refused).json["status"] == "failed")
      let metrics = try await bed.api.with(nil).get("/metrics").body
      // A response that cannot be opened is not verified.
      for (stage, count) in [("consume", 2), ("open", 2), ("verify", 1), ("conclude", 2), ("outcome", 2)] {
        #expect(
          metrics.contains("mdoc_verification_stage_duration_seconds_count{stage=\"\(stage)\"} \(count)\n"), "\(stage)")
      }
      for (operation, count) in [("create", 2), ("consume", 2), ("record_outcome", 2)] {
        #expect(
          metrics.contains("mdoc_store_operation_duration_seconds_count{operation=\"\(operation)\"} \(count)\n"),
          "\(operation)")
        #expect(metrics.contains("mdoc_store_failures_total{operation=\"\(operation)\"} 0\n"))
      }
      for sample in [
        "mdoc_http_queue_depth 0", "mdoc_http_body_bytes 0", "mdoc_http_shed_total{reason=\"delay\"} 0",
        "mdoc_http_rate_limited_total{limit=\"address\"} 0", "mdoc_trust_age_seconds 0",
      ] { #expect(metrics.contains("\n\(sample)\n"), "\(sample)") }
      bed.clock.advance(90)
      #expect(try await bed.api.with(nil).get("/metrics").body.contains("\nmdoc_trust_age_seconds 90\n"))
    }
  }

  @Test func `proofs are counted by circuit and outcome`() throws {
    let metrics = Metrics()
    let (one, four) = (KnownCircuit.all[0], KnownCircuit.all[7])
    metrics.verified(ProofRun(circuit: four, isProven: true, seconds: 0.3))
    metrics.verified(ProofRun(circuit: one, isProven: true, seconds: 0.2))
    metrics.verified(ProofRun(circuit: one, isProven: false, seconds: 0.01))
    let proofs = metrics.snapshot.proofs
    #expect(proofs[one]?.verified == 1 && proofs[one]?.refused == 1 && proofs[one]?.durations.count == 2)
    #expect(proofs[four]?.verified == 1 && proofs[four]?.refused == 0)
    #expect((one.name, four.name) == ("v7-1", "v6-4"))
    #expect(Set(KnownCircuit.all.map(\.name)).count == KnownCircuit.all.count)
  }

  /// From the session to the count, with a wallet that proves.
  @Test(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
  func `a proof is counted and measured by its circuit`() async throws {
    let circuits = try CircuitLibrary(folder: PublishedVectors.folder + "/longfellow/circuits")
    try await withTestMode(circuits: circuits) { bed in
      func metrics() async throws -> String { try await bed.api.with(nil).get("/metrics").body }
      let before = try await metrics()
      #expect(before.contains("\nmdoc_zk_proofs_total{circuit=\"v7-1\",outcome=\"verified\"} 0\n"))
      #expect(before.contains("\nmdoc_zk_circuit_loaded{circuit=\"v7-1\"} 0\n"))
      let created = try await bed.api.post(
        "/v1/verification_sessions",
        [
          "protocols": ["org-iso-mdoc"], "origin": .string(TestBed.origin),
          "documents": [["doc_type": .string(DocType.mDL), "age_over": [21], "zk": "required"]],
        ])
      #expect(created.status == 201, "\(created.body)")
      let reply = try await bed.submit(bed.mockAnswer(created.json), to: created.json)
      #expect(reply.json["status"] == "verified", "\(reply.body)")
      let after = try await metrics()
      for sample in [
        "mdoc_zk_proofs_total{circuit=\"v7-1\",outcome=\"verified\"} 1",
        "mdoc_zk_proofs_total{circuit=\"v7-1\",outcome=\"refused\"} 0",
        "mdoc_zk_proof_duration_seconds_count{circuit=\"v7-1\"} 1",
        "mdoc_zk_proof_duration_seconds_count{circuit=\"v6-1\"} 0",
        "mdoc_zk_circuit_loaded{circuit=\"v7-1\"} 1", "mdoc_zk_circuit_loaded{circuit=\"v7-2\"} 0",
      ] { #expect(after.contains("\n\(sample)\n"), "\(sample)") }
    }
  }

  /// Each family is announced once, before its samples, which come together; names and labels are of the right letters.
  @Test func `the text is Prometheus' to the letter`() async throws {
    try await withTestMode { bed in
      _ = try await bed.createSession()
      let body = try await bed.api.with(nil).get("/metrics").body
      #expect(body.hasSuffix("\n") && !body.contains("\n\n"))
      let sample = try Regex(
        #"^([a-z_]+?)(_bucket|_sum|_count)?(\{[a-z_]+="([^"\\\n]|\\[\\"n])*"(,[a-z_]+="([^"\\\n]|\\[\\"n])*")*\})? -?[0-9.e+-]+$"#
      )
      var kinds: [String: String] = [:]
      var current = ""
      for line in body.split(separator: "\n") {
        let words = line.split(separator: " ").map(String.init)
        if line.hasPrefix("# HELP ") {
          current = words[2]
          #expect(kinds[current] == nil, "\(current) is there twice")
        } else if line.hasPrefix("# TYPE ") {
          #expect(words[2] == current)
          kinds[current] = words[3]
        } else {
          #expect(line.wholeMatch(of: sample) != nil, "\(line)")
          let name = line.prefix { $0 != "{" && $0 != " " }
          let family = kinds[current] == "histogram" ? ["_bucket", "_sum", "_count"].map { current + $0 } : [current]
          #expect(family.contains(String(name)), "\(name) below \(current)")
        }
      }
      #expect(kinds.keys.allSatisfy { $0.hasPrefix("mdoc_") })
      #expect(kinds.filter { $0.key.hasSuffix("_total") }.allSatisfy { $0.value == "counter" })
    }
  }
}
