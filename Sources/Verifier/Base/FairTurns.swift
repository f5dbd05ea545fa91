/// The sender of work: a relying party, or any sender without an API key. Senders take turns.
///
/// It is a task-local value, so that the stores can read it.
package struct Flow: Hashable, Sendable {
  @TaskLocal package static var current = Flow.house

  private let number: Int

  /// The server's own work.
  package static let house = Flow(number: 0)
  /// Health checks.
  package static let probes = Flow(number: -1)

  private static var strangers: Int { 1_024 }

  private init(number: Int) { self.number = number }

  // Each process hashes differently, so nobody can choose names with equal hashes.
  package init(relyingParty: String) { number = relyingParty.hashValue | Self.strangers }

  /// The flow of a sender without an API key, by the sender's address. Addresses share a bounded number of flows.
  package init(stranger address: some Hashable) {
    number = 1 + Int(address.hashValue.magnitude % UInt(Self.strangers - 1))
  }
}

/// Chooses the next flow: start-time fair queueing (Goyal, Vin and Cheng 1996), with costs charged after the work.
///
/// A flow's tag is the virtual time at which its next work may begin. It grows by the cost of the flow's work, in
/// nanoseconds. The flow with the least tag is next. After a pause a flow begins at the tag of the latest work: pauses
/// earn no credit.
package struct FairTurns {
  private struct Entry {
    let flow: Flow
    var tag: Int64 = 0
    var underWay = 0
    var isWaiting = false
  }

  /// The charge when work begins. It lets a new flow precede a flow with running work.
  private static var least: Int64 { 50_000 }

  private var entries: [Entry] = []
  private var indexes: [Flow: Int] = [:]
  /// The flows with waiting work.
  private var waiting: [Int] = []
  /// The tag of the latest work.
  private var time: Int64 = 0
  /// The number of flows with running work.
  package private(set) var busy = 0

  package init() {}

  /// Marks the flow as having waiting work.
  package mutating func wait(_ flow: Flow) {
    let index = index(of: flow)
    guard !entries[index].isWaiting else { return }
    entries[index].isWaiting = true
    entries[index].tag = max(entries[index].tag, time)
    waiting.append(index)
  }

  /// Marks the flow as having no waiting work.
  package mutating func rest(_ flow: Flow) {
    let index = index(of: flow)
    guard entries[index].isWaiting else { return }
    entries[index].isWaiting = false
    waiting.removeAll { $0 == index }
  }

  /// The next flow with waiting work and fewer than `limit` running pieces of work.
  package func next(below limit: Int = .max) -> Flow? {
    var least: Int?
    for index in waiting where entries[index].underWay < limit {
      if let other = least, entries[other].tag <= entries[index].tag { continue }
      least = index
    }
    return least.map { entries[$0].flow }
  }

  /// - Parameter isNew: false for work that resumes. Resumed work takes no turn.
  package mutating func begin(_ flow: Flow, isNew: Bool = true) {
    let index = index(of: flow)
    if isNew { time = max(time, entries[index].tag) }
    entries[index].tag += Self.least
    if entries[index].underWay == 0 { busy += 1 }
    entries[index].underWay += 1
  }

  /// - Parameter cost: the nanoseconds that the work took.
  package mutating func end(_ flow: Flow, cost: Int64) {
    let index = index(of: flow)
    entries[index].tag += max(0, cost - Self.least)
    // Work that is attempted twice also ends twice. No limit is set for such work.
    guard entries[index].underWay > 0 else { return }
    entries[index].underWay -= 1
    if entries[index].underWay == 0 { busy -= 1 }
  }

  private mutating func index(of flow: Flow) -> Int {
    if let index = indexes[flow] { return index }
    // Flows are never removed. Their number is bounded by the number of relying parties and by `strangers`.
    indexes[flow] = entries.count
    entries.append(Entry(flow: flow))
    return entries.count - 1
  }
}

/// A queue whose flows take turns. Within a flow, first in is first out.
package struct FairQueue<Element> {
  private var turns = FairTurns()
  private var lines: [Flow: FirstInFirstOut<Element>] = [:]
  package private(set) var count = 0

  package init() {}

  package var isEmpty: Bool { count == 0 }

  package mutating func append(_ element: Element, of flow: Flow) {
    lines[flow, default: FirstInFirstOut()].append(element)
    count += 1
    turns.wait(flow)
  }

  /// Takes the next element of a flow with fewer than `limit` elements in progress. Call `end` when the element's work
  /// is done.
  package mutating func popFirst(below limit: Int = .max) -> Element? {
    guard let flow = turns.next(below: limit), let element = lines[flow]?.popFirst() else { return nil }
    count -= 1
    if lines[flow]?.isEmpty ?? true { turns.rest(flow) }
    turns.begin(flow)
    return element
  }

  package mutating func end(_ flow: Flow, cost: Int64) { turns.end(flow, cost: cost) }

  /// Removes all elements, flow by flow, without beginning their work.
  package mutating func removeAll() -> [Element] {
    var all: [Element] = []
    for flow in lines.keys {
      while let element = lines[flow]?.popFirst() { all.append(element) }
      turns.rest(flow)
    }
    count = 0
    return all
  }
}

/// A queue with amortized constant time.
package struct FirstInFirstOut<Element> {
  private var elements: [Element] = []
  private var head = 0

  package init() {}

  package var count: Int { elements.count - head }
  package var isEmpty: Bool { head == elements.count }
  package var first: Element? { isEmpty ? nil : elements[head] }

  package mutating func append(_ element: Element) { elements.append(element) }

  package mutating func popFirst() -> Element? {
    guard let element = first else { return nil }
    head += 1
    // Drops the taken elements once they are more than half of the array.
    if head == elements.count {
      elements.removeAll(keepingCapacity: true)
      head = 0
    } else if head > 64, head * 2 > elements.count {
      elements.removeFirst(head)
      head = 0
    }
    return element
  }
}
