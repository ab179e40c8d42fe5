import type { SchemaIssue } from "../../core/errors/schema-issue.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Json } from "../../core/values/json.ts";
import type { Limits } from "../../core/values/limits.ts";
import { pointerOf } from "../../core/values/pointer.ts";
import type { Spend } from "../../expressions/pattern/pattern.ts";

/** Limits of one check of a value against a schema. */
export type CheckLimits = Pick<Limits, "schemaWork" | "issues">;

/** What a check may do, or several that belong together: counted by what they really do. */
export class CheckBudget {
  spent = 0;
  readonly limits: CheckLimits;

  constructor(limits: CheckLimits) {
    this.limits = limits;
  }

  /** @throws StepfoldError `LIMIT_EXCEEDED` */
  spend(units: number): void {
    this.spent += units;
    const { schemaWork: max } = this.limits;
    if (this.spent <= max) return;
    throw new StepfoldError("LIMIT_EXCEEDED", { what: "The check against a JSON Schema", limit: "schemaWork", max, actual: this.spent });
  }
}

/** Where a value lies in the one that is checked; null for that one itself. */
export interface InstanceLocation {
  readonly around: InstanceLocation | null;
  readonly key: string | number;
}

/** A schema made ready. `$ref` and `$dynamicRef` lead from one to another, also in circles. */
export interface SchemaNode {
  /** In the order in which they are to be made. */
  readonly checks: Check[];
  /** The schema of its own id around it: what `$dynamicRef` looks for its anchor in. */
  readonly resource: Resource;
}

/** A schema that has an id of its own, or the whole. */
export interface Resource {
  readonly uri: string;
  readonly dynamicAnchors: Map<string, SchemaNode>;
}

/** What one keyword asks of a value; false if it does not hold. */
export type Check = (value: Json, run: CheckRun, place: InstanceLocation | null, seen: Seen) => boolean;

/** Members and items that some keyword has looked at: `unevaluatedProperties` and `unevaluatedItems` are about the others. */
export class Seen {
  isAll = false;
  readonly keys: Set<string | number> = new Set();

  has(key: string | number): boolean {
    return this.isAll || this.keys.has(key);
  }
}

/** Schemas inside each other, also by `$ref`: more are a circle. */
const maxDepth = 1_000;
/** Shows a value in a message. */
const maxShown = 200;

/** One check of a value: counts what it does, and collects what is wrong. */
export class CheckRun {
  readonly issues: SchemaIssue[] = [];
  /** Above 0 nothing is reported: it only matters whether something fits. */
  quiet = 0;
  /** Ids of the schemas that led here, the outermost first. */
  readonly scope: Resource[] = [];
  /** True if some keyword asks what others have looked at. */
  readonly isWatched: boolean;
  readonly #budget: CheckBudget;
  #depth = 0;

  constructor(isWatched: boolean, budget: CheckBudget) {
    this.isWatched = isWatched;
    this.#budget = budget;
  }

  /** What the schema's keywords have looked at, if the value fits; null if it does not. */
  evaluate({ checks, resource }: SchemaNode, value: Json, place: InstanceLocation | null): Seen | null {
    this.spend(1 + checks.length);
    if (++this.#depth > maxDepth) throw new StepfoldError("OPTION_INVALID", { option: "schema", reason: "leads to itself without end" });
    const isEntered = this.scope.at(-1) !== resource;
    if (isEntered) this.scope.push(resource);
    const seen = this.isWatched ? new Seen() : nothingSeen;
    let isValid = true;
    for (const check of checks) {
      if (check(value, this, place, seen)) continue;
      isValid = false;
      if (this.quiet > 0) break;
    }
    if (isEntered) this.scope.pop();
    this.#depth--;
    return isValid ? seen : null;
  }

  /** Checks the same value against a schema inside; what that has looked at counts for the schema around it. */
  within(node: SchemaNode, value: Json, place: InstanceLocation | null, seen: Seen): boolean {
    const found = this.evaluate(node, value, place);
    if (found) this.#add(seen, found);
    return found !== null;
  }

  /** Whether a value fits, without a word about why not. */
  fits(node: SchemaNode, value: Json, place: InstanceLocation | null, seen: Seen = nothingSeen): boolean {
    this.quiet++;
    const fits = this.within(node, value, place, seen);
    this.quiet--;
    return fits;
  }

  see(seen: Seen, key: string | number): void {
    if (this.isWatched) seen.keys.add(key);
  }

  seeAll(seen: Seen): void {
    if (this.isWatched) seen.isAll = true;
  }

  /** @throws StepfoldError `LIMIT_EXCEEDED` */
  readonly spend: Spend = (units) => this.#budget.spend(units);

  /** Notes what is wrong; always false. */
  report(place: InstanceLocation | null, message: string): false {
    if (this.quiet === 0 && this.issues.length < this.#budget.limits.issues) this.issues.push({ pointer: pointerAt(place), message });
    return false;
  }

  #add(seen: Seen, found: Seen): void {
    if (!this.isWatched || seen === nothingSeen) return;
    this.spend(found.keys.size);
    seen.isAll ||= found.isAll;
    for (const key of found.keys) seen.keys.add(key);
  }
}

/** Stands for what nobody asks for. */
const nothingSeen = new Seen();

/** A value in a message, cut if it is long. */
export function shown(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > maxShown ? `${text.slice(0, maxShown)}...` : text;
}

function pointerAt(place: InstanceLocation | null): string {
  const trail: (string | number)[] = [];
  for (let at = place; at; at = at.around) trail.push(at.key);
  return pointerOf(trail.reverse());
}
