/// Lists that are already here, under the address that each would be fetched from: for verification without a network.
///
/// It keeps to the same rules as a fetch, as far as they can be broken without a connection, so that an address that a
/// server would refuse is refused here too.
public struct KeptLists: ListFetcher {
  private var answers: [String: Result<FetchedList, FetchError>]
  private let observer: (any FetchObserver)?

  /// The addresses are compared as they are written, like the `uri` of a status list with its subject.
  public init(_ answers: [String: Result<FetchedList, FetchError>] = [:], observer: (any FetchObserver)? = nil) {
    self.answers = answers
    self.observer = observer
  }

  /// What is answered at an address: bytes, or a fault.
  public subscript(address: String) -> Result<FetchedList, FetchError>? {
    get { answers[address] }
    set { answers[address] = newValue }
  }

  public func fetch(_ address: String, allowing rules: FetchRules) async throws(FetchError) -> FetchedList {
    observer?.observe(.asked)
    let answer = answer(to: address, allowing: rules)
    switch answer {
    case .success(let list): observer?.observe(.fetched(bytes: list.bytes.count))
    case .failure(let error): observer?.observe(.failed(error))
    }
    return try answer.get()
  }

  private func answer(to address: String, allowing rules: FetchRules) -> Result<FetchedList, FetchError> {
    do { _ = try ListAddress(address, allowing: rules) } catch { return .failure(error) }
    guard let answer = answers[address] else { return .failure(.unavailable("no list was given for the address")) }
    if case .success(let list) = answer, list.bytes.count > rules.maximumBytes { return .failure(.tooLarge) }
    return answer
  }
}
