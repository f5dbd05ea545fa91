import Base
import CBOR

extension VICALContents {
  /// Reads the payload (ISO/IEC 18013-5, C.1.7). What is wrong with single entries is left in `entryFindings`.
  init(reading payload: CBORItem, entryFindings: inout [Check]) throws(VICALError) {
    let members = try VICALMembers(payload)
    let version = try VICALMembers.required(members.text("version"), "version")
    guard version.hasSameBytes(as: "1.0") else { throw .versionUnsupported }
    provider = try VICALMembers.required(members.text("vicalProvider"), "vicalProvider")
    issueID = try members.unsigned("vicalIssueID")
    date = try VICALMembers.required(members.time("date"), "date")
    nextUpdate = try members.time("nextUpdate")
    notAfter = try members.time("notAfter")
    url = try members.text("vicalURL")
    try members.requireMap("extensions")
    let items = try VICALMembers.required(members.items("certificateInfos"), "certificateInfos")
    var reader = VICALEntryReader()
    let read = items.enumerated().map { reader.entry($1, number: $0 + 1) }
    entries = read.compactMap { $0 }
    leftOut = read.count - entries.count
    entryFindings = reader.findings.checks
  }
}
