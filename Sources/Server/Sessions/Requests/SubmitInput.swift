import Base

/// The body of `POST …/{id}/submit`; `data` is the protocol's to read.
struct SubmitInput {
  let protocolName: String
  let data: JSON

  init(parsing json: JSON) throws(ServiceError) {
    var faults = InputFaults()
    let input = ObjectInput(json, at: "", known: ["protocol", "data"], &faults)
    let name = input?.string("protocol", required: true, &faults)
    let data = input?.value("data")
    if let input, data == nil { faults.add(input.pointer(to: "data"), "is required") }
    try faults.throwIfAny()
    guard let name, let data else { throw ServiceError(.apiInvalidRequest) }
    protocolName = name
    self.data = data
  }
}
