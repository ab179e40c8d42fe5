import { compileExpression } from "../../packages/stepfold/src/expressions/compile-expression.ts";

/** What the examples see: one order, and what two nodes made of it. */
const scope = {
  input: { customer: "Ada", price: 49.5, quantity: 3, tags: ["new", "gift"], note: null, orderedAt: "2026-01-31T09:00:00Z" },
  $json: { total: 148.5 },
  $now: "2026-02-01T12:00:00.000Z",
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
  "date.format(input.orderedAt, 'dd.MM.yyyy')",
];

/** Each example with what it gives, computed: a page cannot be wrong about it. */
export function expressionExamples(): string[] {
  const code = (text: string): string => `\`${text.replaceAll("|", "\\|")}\``;
  return examples.map((text) => `| ${code(text)} | ${code(JSON.stringify(compileExpression(text).evaluate(scope)) ?? "undefined")} |`);
}

/** The data that the examples see. */
export const exampleData: string = JSON.stringify(scope, null, 2);
