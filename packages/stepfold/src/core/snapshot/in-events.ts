/** What holds values, large ones of which lie in the events: a store does not write them again with every commit. */
export interface InEvents {
  /** Where, by the member: `7/payload` is the payload of event 7, `items/0#2/3` the item of a map, which is the input of its child. */
  readonly inEvents?: Readonly<Record<string, string>>;
}
