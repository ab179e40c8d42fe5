import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Json } from "../../core/values/json.ts";
import type { Limits } from "../../core/values/limits.ts";
import { shortPointerOf } from "../../core/values/pointer.ts";
import type { Spend } from "../../expressions/pattern/pattern.ts";

/** Limits of one check of a value against a schema. */
export type CheckLimits = Pick<Limits, "schemaWork" | "issues">;

/** The work that one check, or several checks that belong together, may do. The work that is really done is counted. */
export class CheckBudget {
  /** Units of work that were done so far. */
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

/** The place of a value inside the value that is checked, as a chain of keys from the inside out; null for the checked value itself. */
export interface InstanceLocation {
  readonly around: InstanceLocation | null;
  readonly key: string | number;
}

/** A mistake in the value that is checked. Its pointer is written only if it is returned: most mistakes belong to a branch that did not fit. */
export interface Mistake {
  readonly place: InstanceLocation | null;
  readonly message: string;
}

/** A compiled schema. `$ref` and `$dynamicRef` lead from one node to another, also in circles. */
export interface SchemaNode {
  /** The checks of its keywords, in the order in which they run. */
  readonly checks: Check[];
  /** The schema itself if it has its own id, else the nearest schema around it that has one, else the whole schema. */
  readonly resource: Resource;
}

/** A schema that has its own id, or the whole schema. */
export interface Resource {
  readonly uri: string;
  readonly dynamicAnchors: Map<string, SchemaNode>;
}

/** Checks a value against one keyword; returns false if the value does not fit. */
export type Check = (value: Json, run: CheckRun, place: InstanceLocation | null, evaluated: Evaluated) => boolean;

/** The members and items of a value that some keyword has evaluated. `unevaluatedProperties` and `unevaluatedItems` apply to the others. */
export class Evaluated {
  /** True if all members and items were evaluated. */
  isAll = false;
  readonly keys: Set<string | number> = new Set();

  has(key: string | number): boolean {
    return this.isAll || this.keys.has(key);
  }
}

/** The deepest nesting of schemas in a check, also by `$ref`. A deeper nesting is taken for an endless circle. */
const maxDepth = 1_000;
/** The most characters of a value that a message shows. */
const maxShown = 200;

/** One check of a value: counts its work, and collects the mistakes in the value. */
export class CheckRun {
  readonly issues: Mistake[] = [];
  /** Above 0, mistakes are not reported, because it only matters whether a value fits. */
  quiet = 0;
  /** The resources (schemas with their own ids) that led to the current schema, the outermost first. */
  readonly scope: Resource[] = [];
  /** True if any part of the schema has `unevaluatedProperties` or `unevaluatedItems`: then evaluated members and items are recorded. */
  readonly tracksEvaluated: boolean;
  readonly #budget: CheckBudget;
  #depth = 0;

  constructor(tracksEvaluated: boolean, budget: CheckBudget) {
    this.tracksEvaluated = tracksEvaluated;
    this.#budget = budget;
  }

  /**
   * Checks a value against a schema. Returns the members and items that the keywords of the schema have evaluated (none if they are not
   * recorded); null if the value does not fit.
   *
   * @throws StepfoldError `OPTION_INVALID` if the schema leads to itself without end, `LIMIT_EXCEEDED`
   */
  evaluate({ checks, resource }: SchemaNode, value: Json, place: InstanceLocation | null): Evaluated | null {
    this.spend(1 + checks.length);
    if (++this.#depth > maxDepth) throw new StepfoldError("OPTION_INVALID", { option: "schema", reason: "refers to itself without end" });
    const isEntered = this.scope.at(-1) !== resource;
    if (isEntered) this.scope.push(resource);
    const evaluated = this.tracksEvaluated ? new Evaluated() : nothingEvaluated;
    let isValid = true;
    for (const check of checks) {
      if (check(value, this, place, evaluated)) continue;
      isValid = false;
      if (this.quiet > 0) break;
    }
    if (isEntered) this.scope.pop();
    this.#depth--;
    return isValid ? evaluated : null;
  }

  /** Checks the same value against a subschema. The members and items that the subschema evaluates also count for the schema around it. */
  within(node: SchemaNode, value: Json, place: InstanceLocation | null, evaluated: Evaluated): boolean {
    const found = this.evaluate(node, value, place);
    if (found) this.#add(evaluated, found);
    return found !== null;
  }

  /** Whether a value fits a schema; mistakes are not reported. */
  fits(node: SchemaNode, value: Json, place: InstanceLocation | null, evaluated: Evaluated = nothingEvaluated): boolean {
    this.quiet++;
    const fits = this.within(node, value, place, evaluated);
    this.quiet--;
    return fits;
  }

  markEvaluated(evaluated: Evaluated, key: string | number): void {
    if (this.tracksEvaluated) evaluated.keys.add(key);
  }

  markAllEvaluated(evaluated: Evaluated): void {
    if (this.tracksEvaluated) evaluated.isAll = true;
  }

  /** @throws StepfoldError `LIMIT_EXCEEDED` */
  readonly spend: Spend = (units) => this.#budget.spend(units);

  /** Reports a mistake in the value, unless `quiet` is above 0 or there are too many. Always returns false, for a check to return. */
  report(place: InstanceLocation | null, message: string): false {
    if (this.quiet === 0 && this.issues.length < this.#budget.limits.issues) this.issues.push({ place, message });
    return false;
  }

  #add(evaluated: Evaluated, found: Evaluated): void {
    if (!this.tracksEvaluated || evaluated === nothingEvaluated) return;
    this.spend(found.keys.size);
    evaluated.isAll ||= found.isAll;
    for (const key of found.keys) evaluated.keys.add(key);
  }
}

/** The object that checks get if evaluated members and items are not recorded. */
const nothingEvaluated = new Evaluated();

/** A value in a message, cut if it is long. */
export function shown(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > maxShown ? `${text.slice(0, maxShown)}...` : text;
}

/** Returns the JSON pointer to a place. */
export function pointerAt(place: InstanceLocation | null): string {
  const trail: (string | number)[] = [];
  for (let at = place; at; at = at.around) trail.push(at.key);
  return shortPointerOf(trail.reverse());
}
