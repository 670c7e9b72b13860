/** A queue with a `shift` of constant cost. An array's `shift` moves all elements. */
export class Fifo<T> {
  #items: (T | undefined)[] = []
  #head = 0

  get length(): number {
    return this.#items.length - this.#head
  }

  get first(): T | undefined {
    return this.#items[this.#head]
  }

  get last(): T | undefined {
    return this.#items.at(-1)
  }

  push(item: T): void {
    this.#items.push(item)
  }

  pop(): T | undefined {
    return this.length === 0 ? undefined : this.#items.pop()
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined
    const item = this.#items[this.#head]
    this.#items[this.#head++] = undefined
    if (this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }
}
