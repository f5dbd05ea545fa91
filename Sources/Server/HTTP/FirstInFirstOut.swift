/// A queue whose both ends are cheap.
struct FirstInFirstOut<Element> {
  private var elements: [Element] = []
  private var head = 0

  var count: Int { elements.count - head }
  var isEmpty: Bool { head == elements.count }
  var first: Element? { isEmpty ? nil : elements[head] }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard let element = first else { return nil }
    head += 1
    // The taken front is dropped once it is the larger part.
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
