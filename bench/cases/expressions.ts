import type { Context } from "stepfold";
import { compileExpression, executionScope } from "stepfold/expressions";
import type { Group } from "../group.ts";
import { perSecond, type Sample } from "../measure.ts";
import { peer } from "../peer.ts";

/** The inputs. There are several, so that the compiler cannot compute one answer in advance and reuse it. */
const amounts = [40, 41, 42, 43, 59, 60, 61, 62];
const batch = 1_000;

/** The output of a node. All five nodes together give about 4.9 KB of JSON. */
function dataOf(index: number): { order: { amount: number; lines: object[] } } {
  const lines = Array.from({ length: 14 }, (_, line) => ({ sku: `SKU-${line}`, name: "A thing to sell", quantity: 2, price: 6.5 }));
  return { order: { amount: amounts[index % amounts.length]!, lines } };
}

const nodeIds = ["fetch", "price", "check", "charge", "ship"];

/** Calls `evaluate` with one scope after the other, and checks the answers before it measures. */
async function rate<S>(scopes: readonly S[], evaluate: (scope: S) => unknown): Promise<Sample> {
  const evaluated = scopes.map(evaluate).join();
  if (evaluated !== amounts.map((amount) => (amount * 2 > 100 ? "high" : "low")).join()) throw new TypeError(`Evaluated as ${evaluated}`);
  let high = 0;
  const run = (): void => {
    for (let i = 0; i < batch; i++) if (evaluate(scopes[i % scopes.length]!) === "high") high++;
  };
  const evaluationsPerSecond = await perSecond(batch, run);
  return { evaluationsPerSecond, high };
}

function plainScopes(): { nodes: Record<string, { last: { data: object } }> }[] {
  return amounts.map((_, index) => ({ nodes: Object.fromEntries(nodeIds.map((id) => [id, { last: { data: dataOf(index) } }])) }));
}

async function stepfold(): Promise<Sample> {
  const expression = compileExpression('nodes.price.last.data.order.amount * 2 > 100 ? "high" : "low"');
  const scopes = amounts.map((_, index) => {
    const result = { output: dataOf(index), timestamp: 0, attempt: 1, pathId: "0", version: 1 };
    const context = Object.fromEntries(nodeIds.map((id) => [id, [result]])) as unknown as Context;
    return executionScope({ context, since: 5, metadata: {}, at: 0 });
  });
  return rate(scopes, (scope) => expression.evaluate(scope));
}

interface Jexl {
  readonly default: { compile(source: string): { evalSync(scope: object): unknown } };
}

async function jexl(): Promise<Sample> {
  const { default: language } = await peer<Jexl>("jexl");
  const expression = language.compile('nodes.price.last.data.order.amount * 2 > 100 ? "high" : "low"');
  return rate(plainScopes(), (scope) => expression.evalSync(scope));
}

interface Cel {
  parse(source: string): (scope: object) => unknown;
}

async function cel(): Promise<Sample> {
  const { parse } = await peer<Cel>("@marcbachmann/cel-js");
  // CEL has no product of a double and an integer
  const expression = parse('nodes.price.last.data.order.amount * 2.0 > 100.0 ? "high" : "low"');
  return rate(plainScopes(), (scope) => expression(scope));
}

const key = "evaluationsPerSecond";
const work = "a path, arithmetic and a ternary, compiled once";

export const expressions: Group = {
  cases: { stepfold: { sample: stepfold }, cel: { sample: cel }, jexl: { sample: jexl } },
  rows: [
    {
      work,
      figure: { of: "stepfold", key },
      unit: "evaluations/s",
      reference: { name: "cel-js", figure: { of: "cel", key } },
      target: { of: "figure", atLeast: 3_000_000 },
    },
    { work, figure: { of: "stepfold", key }, unit: "evaluations/s", reference: { name: "jexl", figure: { of: "jexl", key } } },
  ],
};
