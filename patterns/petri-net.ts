/** One transition of a net. A place named twice in `in` or `out` stands for two tokens. */
export interface Transition {
  /** The label that an observer sees when the transition fires. Absent: it fires unseen. */
  readonly label?: string;
  /** Takes a token from each of these places. */
  readonly in?: readonly string[];
  /** Puts a token into each of these places. */
  readonly out?: readonly string[];
  /** Fires only while all of these places are empty. */
  readonly inhibit?: readonly string[];
  /** Empties these places, after `in` and before `out`. */
  readonly reset?: readonly string[];
  /**
   * True if the transition belongs to the same step as the one that enabled it, so that it fires before all others. Default: true for
   * labels `+n`, false for all others.
   */
  readonly immediate?: boolean;
}

/** A labelled Petri net with inhibitor arcs, reset arcs and immediate transitions. */
export interface Net {
  /** The places that hold a token at first; a place named twice holds two. */
  readonly initial: readonly string[];
  readonly transitions: readonly Transition[];
  /** The markings in which each last label may come. Places that are not named are empty there. */
  readonly final: Readonly<Record<string, readonly (readonly string[])[]>>;
}

/** The number of tokens in each place, in the order of {@link Oracle.places}. */
export type Marking = readonly number[];

/** The possible markings of the net after the labels so far. */
export interface States {
  /** A text that is equal for equal states, for memoizing. */
  readonly key: string;
  /** The possible markings. Empty after a last label, or after a label that the net forbids. */
  readonly markings: readonly Marking[];
  /** True if no run of the net has the labels so far. */
  readonly forbidden: boolean;
}

/** A transition whose places are numbers. */
interface Rule {
  readonly label: string | undefined;
  readonly immediate: boolean;
  readonly needs: readonly (readonly [place: number, tokens: number])[];
  readonly gives: readonly number[];
  readonly inhibit: readonly number[];
  readonly reset: readonly number[];
}

const forbidden: States = { key: "forbidden", markings: [], forbidden: true };

/**
 * Judges labels one by one: `step` returns the states after one more label, which are `forbidden` if no run of the net has these
 * labels. States are plain values, so a search can return to earlier ones.
 */
export class Oracle {
  /** Every place of the net, in the order of the numbers in a {@link Marking}. */
  readonly places: readonly string[];
  private readonly rules: readonly Rule[];
  private readonly ends: ReadonlyMap<string, ReadonlySet<string>>;
  private readonly initial: Marking;
  private readonly limit: number;

  /**
   * Compiles the net.
   * @param limit the largest number of markings for one list of labels; with more, the net counts as unbounded and a `RangeError` is
   * thrown
   */
  constructor(net: Net, limit = 10_000) {
    this.places = placesOf(net);
    this.limit = limit;
    const at = new Map(this.places.map((place, i) => [place, i]));
    this.rules = net.transitions.map((transition) => ruleOf(transition, at));
    this.initial = markingOf(net.initial, at);
    this.ends = new Map(
      Object.entries(net.final).map(([label, markings]) => [label, new Set(markings.map((marking) => markingOf(marking, at).join()))]),
    );
  }

  /** Returns the states before the first label. */
  start(): States {
    return this.closed([this.initial]);
  }

  /** Returns the states after one more label. */
  step(states: States, label: string): States {
    if (this.ends.has(label)) return this.mayEnd(states, label) ? { key: label, markings: [], forbidden: false } : forbidden;
    return this.closed(
      states.markings.flatMap((marking) => this.firings(marking).flatMap(([rule, after]) => (rule.label === label ? [after] : []))),
    );
  }

  /** Returns the labels that the net allows next, sorted, for messages. */
  next(states: States): string[] {
    const labels = states.markings.flatMap((marking) => this.firings(marking).flatMap(([rule]) => rule.label ?? []));
    return [...new Set([...labels, ...[...this.ends.keys()].filter((end) => this.mayEnd(states, end))])].sort();
  }

  /** Returns the transitions that may fire in one marking, each with its index and the marking after it. */
  successors(marking: Marking): { readonly transition: number; readonly after: Marking }[] {
    return this.firings(marking).map(([rule, after]) => ({ transition: this.rules.indexOf(rule), after }));
  }

  /** Returns the last labels that may come in one marking. */
  endings(marking: Marking): string[] {
    if (this.rules.some((rule) => rule.immediate && enabled(rule, marking))) return [];
    const key = marking.join();
    return [...this.ends].flatMap(([label, markings]) => (markings.has(key) ? [label] : []));
  }

  private mayEnd(states: States, label: string): boolean {
    return states.markings.some((marking) => this.endings(marking).includes(label));
  }

  private firings(marking: Marking): [Rule, Marking][] {
    const able = this.rules.filter((rule) => enabled(rule, marking));
    const first = able.filter((rule) => rule.immediate);
    return (first.length > 0 ? first : able).map((rule) => [rule, fire(rule, marking)]);
  }

  /** Returns the states of these markings and of all markings that follow from them by transitions without a label. */
  private closed(markings: readonly Marking[]): States {
    const found = new Map<string, Marking>();
    const open = [...markings];
    for (let marking = open.pop(); marking !== undefined; marking = open.pop()) {
      const key = marking.join();
      if (found.has(key)) continue;
      if (found.size === this.limit) throw new RangeError(`More than ${this.limit} markings: the net is not bounded`);
      found.set(key, marking);
      for (const [rule, after] of this.firings(marking)) if (rule.label === undefined) open.push(after);
    }
    if (found.size === 0) return forbidden;
    return { key: [...found.keys()].sort().join("|"), markings: [...found.values()], forbidden: false };
  }
}

/** True if the labels, of which the last one is a final label, are those of a whole run of the net. */
export function accepts(net: Net, labels: readonly string[]): boolean {
  const last = labels.at(-1);
  if (last === undefined || !Object.hasOwn(net.final, last)) return false;
  const oracle = new Oracle(net);
  let states = oracle.start();
  for (const label of labels) states = oracle.step(states, label);
  return !states.forbidden;
}

function placesOf({ initial, transitions, final }: Net): string[] {
  const used = transitions.flatMap((t) => [...(t.in ?? []), ...(t.out ?? []), ...(t.inhibit ?? []), ...(t.reset ?? [])]);
  return [...new Set([...initial, ...used, ...Object.values(final).flat(2)])];
}

function ruleOf(transition: Transition, at: ReadonlyMap<string, number>): Rule {
  const indexes = (places: readonly string[] = []): number[] => places.map((place) => at.get(place) ?? -1);
  const needs = new Map<number, number>();
  for (const place of indexes(transition.in)) needs.set(place, (needs.get(place) ?? 0) + 1);
  const { label, immediate = label?.startsWith("+") ?? false } = transition;
  const inhibit = indexes(transition.inhibit);
  return { label, immediate, needs: [...needs], gives: indexes(transition.out), inhibit, reset: indexes(transition.reset) };
}

function markingOf(tokens: readonly string[], at: ReadonlyMap<string, number>): Marking {
  const marking = new Array<number>(at.size).fill(0);
  for (const place of tokens) marking[at.get(place) ?? -1]! += 1;
  return marking;
}

function enabled({ needs, inhibit }: Rule, marking: Marking): boolean {
  return needs.every(([place, tokens]) => marking[place]! >= tokens) && inhibit.every((place) => marking[place] === 0);
}

function fire({ needs, gives, reset }: Rule, marking: Marking): Marking {
  const after = [...marking];
  for (const [place, tokens] of needs) after[place]! -= tokens;
  for (const place of reset) after[place] = 0;
  for (const place of gives) after[place]! += 1;
  return after;
}
