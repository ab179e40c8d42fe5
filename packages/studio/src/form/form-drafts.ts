import type { WaitInfo } from "stepfold/core";
import { FormDraft } from "./form-draft.ts";

/** A wait, and what was entered for it. */
export interface WaitDraft {
  readonly wait: WaitInfo;
  readonly draft: FormDraft;
}

/** The most drafts that are kept. */
const maxDrafts = 100;

/** The answers that are being written, by wait. They outlive their forms, and also the waits: no text is lost when somebody else was faster. */
export class FormDrafts {
  readonly #drafts = new Map<string, WaitDraft>();

  /** The draft for a wait that is open. */
  of(wait: WaitInfo, schema: WaitInfo["schema"] = wait.schema): FormDraft {
    const draft = this.#drafts.get(wait.id)?.draft ?? new FormDraft(schema);
    this.#drafts.delete(wait.id);
    this.#drafts.set(wait.id, { wait, draft });
    if (this.#drafts.size > maxDrafts) this.#drafts.delete(this.#drafts.keys().next().value!);
    return draft;
  }

  /** The answers that were begun and whose wait is not open any more. @param open the ids of the open waits */
  lost(open: ReadonlySet<string>): WaitDraft[] {
    return [...this.#drafts.values()].filter(({ wait, draft }) => !open.has(wait.id) && draft.isTouched && !draft.isBusy);
  }

  /** Forgets a draft, because it was sent or is not wanted any more. */
  forget(waitId: string): void {
    this.#drafts.delete(waitId);
  }
}
