import { Miniflare, type MiniflareOptions } from "miniflare";
import { rolldown } from "rolldown";

/** Starts workerd with a worker that is bundled from its source. The bindings of the worker are in `options`. */
export async function openWorkerd(source: string, options: object): Promise<Miniflare> {
  const bundle = await rolldown({ input: source, external: ["cloudflare:workers"], platform: "neutral" });
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false });
  const workerd = new Miniflare({
    host: "127.0.0.1",
    // miniflare must not ask a server for the place of this machine
    cf: false,
    modules: true,
    script: output[0].code,
    compatibilityDate: "2026-01-01",
    ...options,
  } as MiniflareOptions);
  await workerd.ready;
  return workerd;
}
