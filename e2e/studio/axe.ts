import { readFileSync } from "node:fs";
import type { CDPSession, Page } from "playwright-core";

const source = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** A mistake that keeps people from using a page. */
interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly help: string;
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary: string }[];
}

const sessions = new WeakMap<Page, CDPSession>();

/**
 * Returns what axe finds on a page against WCAG 2.2 AA and its own best practices, if it is serious or critical, as texts. The policy of the page
 * allows no code of others, so it comes by the browser's own protocol.
 */
export async function violationsOf(page: Page): Promise<string[]> {
  const session = sessions.get(page) ?? (await page.context().newCDPSession(page));
  sessions.set(page, session);
  const evaluate = async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = await session.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  if ((await evaluate("typeof axe")) === "undefined") await evaluate(`${source};0`);
  // what fades in has its colours at the end
  await evaluate(`(async () => {
    const passing = () => document.getAnimations().filter((one) => one.playState === "running" && one.effect.getTiming().iterations !== Infinity);
    while (passing().length > 0) await Promise.allSettled(passing().map((one) => one.finished));
  })()`);
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const found = await evaluate(
    `axe.run(document, { resultTypes: ["violations"], runOnly: { type: "tag", values: ${JSON.stringify(tags)} } }).then(({ violations }) => JSON.stringify(violations))`,
  );
  return (JSON.parse(found as string) as readonly Violation[])
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, impact, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${impact} ${id}: ${target.join(" ")}\n${failureSummary}`),
    );
}
