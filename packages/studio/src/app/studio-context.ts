import { type Context, createContext, use } from "react";
import type { Client, MeView } from "stepfold/client";
import type { ListKeeper } from "../pages/executions/list/list-keeper.ts";
import type { TextStorage } from "../session/safe-storage.ts";
import type { KeyModel } from "./keys/key-model.ts";
import type { LinkModel } from "./link-model.ts";
import type { LocationModel, NavigateOptions } from "./location-model.ts";

/** What every page may use. */
export interface Studio {
  /** Always the same object. If the server wants another token, the page asks for it, and the calls go on. */
  readonly client: Client;
  readonly me: MeView;
  readonly location: LocationModel;
  /** Goes to a path, or to another query (`?tab=events`) of this path. */
  readonly navigate: (to: string, options?: NavigateOptions) => void;
  /** Tells screen readers a sentence, at most one in five seconds. */
  readonly announce: (sentence: string) => void;
  readonly keys: KeyModel;
  readonly link: LinkModel;
  /** What this browser keeps. */
  readonly storage: TextStorage;
  /** The list of executions that was shown last. */
  readonly lists: ListKeeper;
}

/** Is given by the shell around the pages. */
export const StudioContext: Context<Studio | null> = createContext<Studio | null>(null);

/** Returns what every page may use. */
export function useStudio(): Studio {
  const studio = use(StudioContext);
  // a page outside the shell is a mistake of the program
  if (!studio) throw new TypeError("useStudio: there is no StudioContext");
  return studio;
}
