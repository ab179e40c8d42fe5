/** An object whose large values are kept in the events, so that a store does not write them again with every commit. */
export interface InEvents {
  /**
   * The places of these values, by member: `7/payload` is the payload of event 7; `items/0#2/3` is item 3 of a map, the input of its child.
   */
  readonly inEvents?: Readonly<Record<string, string>>;
}
