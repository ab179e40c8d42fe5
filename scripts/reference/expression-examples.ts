import { compileExpression } from "../../packages/stepfold/src/expressions/compile-expression.ts";
import { loadFunctions } from "../../packages/stepfold/src/expressions/load-functions.ts";

await loadFunctions();

/** The scope of the examples: an order, and the output of the node before. */
const scope = {
  input: { customer: "Ada", price: 49.5, quantity: 3, tags: ["new", "gift"], note: null, orderedAt: "2026-01-31T09:00:00Z" },
  $json: { total: 148.5 },
  $now: "2026-02-01T12:00:00.000Z",
  seed: () => "the step's",
};

const examples: readonly string[] = [
  "input.price * input.quantity",
  "input.quantity > 2 ? 'many' : 'few'",
  "input.note ?? 'none'",
  "input.missing?.deeper",
  "input.customer + ' pays ' + $json.total.toFixed(2)",
  "input.customer.toUpperCase().padEnd(5, '.')",
  "input.tags.includes('gift') && input.price < 50",
  "input.tags.map(tag => tag.length)",
  "input.tags.filter(tag => tag !== 'new').join(', ')",
  "[...input.tags, 'paid']",
  "({ ...$json, paid: true })",
  "Object.keys($json)",
  "Math.max(input.price, 60)",
  "Number('12') + parseInt('7 pieces')",
  "JSON.stringify(input.tags)",
  "date.add(input.orderedAt, '14 days')",
  "date.diff($now, input.orderedAt, 'hours')",
  "date.format(input.orderedAt, 'EEEE, d MMM yyyy')",
  "Object.entries($json).map(([name, amount]) => name + ': ' + amount)",
  "'note' in input /* a comment */",
  "input.customer!.trim()",
  "input.orderedAt.match(/(\\d+)-(\\d+)/)",
  "input.customer.replace(/[aeiou]/gi, '$&.')",
  "base64.encode(input.customer)",
  "hash.sha256(input.customer).slice(0, 16)",
  "uuid()",
  "$now.plus({ days: 7 }).toFormat('d MMMM yyyy')",
  "$now.toFormat(\"kkkk-'W'WW\")",
  "$node['charge']?.json.id",
  "input.tags.last().toTitleCase()",
];

/** Returns each example with its computed result, so that the page is always right. */
export function expressionExamples(): string[] {
  const code = (text: string): string => `\`${text.replaceAll("|", "\\|")}\``;
  return examples.map((text) => `| ${code(text)} | ${code(JSON.stringify(compileExpression(text).evaluate(scope)) ?? "undefined")} |`);
}

/** The data that the examples see. */
export const exampleData: string = JSON.stringify({ ...scope, seed: undefined }, null, 2);

/** The rules of the language that the examples do not show. */
export const expressionForms = `- \`a!\` says that \`a\` must be there: where it is null or missing the expression fails, with \`EXPRESSION_FAILED\` and its place, instead of
  giving undefined. That is strict reading, for each member that you want it for.
- Comments are \`/* ... */\`, and \`// ...\` up to the end of the line or of the expression.
- Arrow functions may take their parameters apart: \`([key, value]) => ...\`, \`({ id, name: title }) => ...\`.
- Regular expressions stand in the expression, \`/a+/gi\`, with the flags \`g i m s u\`, and are handed to \`test exec match matchAll search replace
  replaceAll split\`. They are matched in time that grows with the text alone; so there are no back references. Letters are whole characters, as with the flag \`u\`.
  Two things differ from JavaScript: groups inside a part that looks ahead or back capture nothing, and how often something is repeated that may match nothing.
- \`uuid()\` and \`Math.random()\` are drawn from the execution, the step, its attempt and the place in the definition. Who performs the same attempt again, after a
  crash or a pause, draws the same; the next attempt draws anew.
- Of n8n there are \`$json\`, \`$input\`, \`$("Node")\`, \`$node["Node"].json\`, \`$items("Node")\`, \`$execution.id\`, \`$workflow.id\`, \`$itemIndex\`, \`$now\`, \`$today\`, \`new Date()\`,
  \`DateTime\`, and the methods below. A time is text with an offset, and [what is written and read](../guides/times.md) is the same everywhere. All
  calculations are in UTC; names of months and days are English.`;
