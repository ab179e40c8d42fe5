import { defineDurable } from "stepfold";
import { z } from "zod";

interface Message {
  readonly role: "user" | "assistant" | "tool";
  readonly content: string;
}
/** A tool that the model wants to use. */
export interface ToolCall {
  readonly tool: string;
  readonly input: string;
}
/** A language model and its tools. */
export interface Assistant {
  think(messages: readonly Message[]): Promise<{ readonly text: string; readonly calls: readonly ToolCall[]; readonly tokens: number }>;
  use(call: ToolCall, key: string): Promise<string>;
}

const retry = { maxAttempts: 5, interval: "2s", backoff: "exponential" } as const;

/** An agent that thinks and uses tools until it has an answer, or no token is left. A person has to allow each payment. */
export const agent = defineDurable({
  id: "agent",
  input: z.object({ task: z.string(), tokens: z.number() }),
  waits: { allow: z.object({ ok: z.boolean() }) },
  async run({ input, step }, { assistant }: { readonly assistant: Assistant }) {
    const messages: Message[] = [{ role: "user", content: input.task }];
    for (let { tokens } = input; tokens > 0; ) {
      const thought = await step.run("think", { retry }, () => assistant.think(messages));
      tokens -= thought.tokens;
      if (thought.calls.length === 0) return { text: thought.text, left: tokens };
      messages.push({ role: "assistant", content: thought.text });
      const pays = thought.calls.some(({ tool }) => tool === "pay");
      if (pays && !(await step.waitFor("allow", { payload: { calls: thought.calls } })).ok) return { text: "not allowed", left: tokens };
      const uses = thought.calls.map((call) => step.run(call.tool, { retry }, ({ idempotencyKey }) => assistant.use(call, idempotencyKey)));
      for (const content of await Promise.all(uses)) messages.push({ role: "tool", content });
    }
    return { text: "out of budget", left: 0 };
  },
});
