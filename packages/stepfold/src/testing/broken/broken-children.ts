import type { ErrorCode } from "../../core/errors/error-details.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { ChangedChild, Commit, SnapshotStore } from "../../ports/snapshot-store.ts";
import { showing, withChildren, writingInstead } from "./altered-commits.ts";
import { altered, type BrokenStore } from "./broken-store.ts";

/** Mistakes in how commits write children. */
export const brokenChildren: readonly BrokenStore[] = [
  {
    name: "writes children before it looks at the version",
    caughtBy: "children: those of a commit refused with VERSION_CONFLICT are not written",
    breaks: (store) => leakingOn(store, "VERSION_CONFLICT"),
  },
  {
    name: "writes children before it looks at the fence",
    caughtBy: "children: those of a commit refused with FENCE_LOST are not written",
    breaks: (store) => leakingOn(store, "FENCE_LOST"),
  },
  {
    name: "writes children before it looks whether the execution has ended",
    caughtBy: "children: those of a commit refused with EXECUTION_ENDED are not written",
    breaks: (store) => leakingOn(store, "EXECUTION_ENDED"),
  },
  {
    name: "writes children before it looks whether the id is taken",
    caughtBy: "children: those of a create that is refused are not written",
    breaks: (store) => leakingOn(store, "WORKFLOW_EXISTS"),
  },
  {
    name: "writes the children of a repeated commit again",
    caughtBy: "children: a repeated commit does not bring back what was changed or deleted since",
    breaks: writingTwice,
  },
  {
    name: "forgets the children of the first commit",
    caughtBy: "children: those of the first commit are loaded",
    breaks: (store) => altered(store, { create: ({ children: _, ...commit }, options) => store.create(commit, options) }),
  },
  {
    name: "never deletes a child",
    caughtBy: "children: the deleted are gone, and only they",
    breaks: (store) => changing(store, (children) => children.filter(({ head }) => head)),
  },
  {
    name: "deletes the children of a child with it",
    caughtBy: "children: the deleted are gone, and only they",
    breaks: (store) => deletingLike(store, (key, deleted) => key.startsWith(`${deleted}>`)),
  },
  {
    name: "takes the key of what it deletes for a pattern",
    caughtBy: "children: any key is a key of its own",
    breaks: (store) => deletingLike(store, (key, deleted) => deleted === "%" || (deleted === "_" && key.length === 1)),
  },
  {
    name: "compares keys without their case",
    caughtBy: "children: any key is a key of its own",
    breaks: (store) => changing(store, (children) => children.map((child) => ({ ...child, key: child.key.toLowerCase() }))),
  },
  {
    name: "ends keys at their first zero",
    caughtBy: "children: any key is a key of its own",
    breaks: (store) => changing(store, (children) => children.map((child) => ({ ...child, key: child.key.split("\u0000")[0]! }))),
  },
  {
    name: "takes the first of two changes of one child",
    caughtBy: "children: of two changes of one child in a commit the later counts",
    breaks: (store) =>
      changing(store, (children) => children.filter(({ key }, index) => children.findIndex((other) => other.key === key) === index)),
  },
  {
    name: "puts first and deletes afterwards",
    caughtBy: "children: one that was deleted and is put again comes last",
    breaks: (store) => changing(store, (children) => [...children.filter(({ head }) => head), ...children.filter(({ head }) => !head)]),
  },
  {
    name: "replaces the row of a child that changes, which is the last then",
    caughtBy: "children: in order of creation, however they change",
    breaks: (store) =>
      changing(store, (children) => children.flatMap((child) => (child.head ? [{ key: child.key, head: null }, child] : [child]))),
  },
  {
    name: "keeps what a changed child no longer has",
    caughtBy: "children: one that changes is replaced as a whole, and the others stay",
    breaks: merging,
  },
  {
    name: "writes children once the head is there",
    caughtBy: "children: head and children are of one version, also while others commit",
    breaks: headFirst,
  },
];

/** Makes a store that writes other changes of children than it is given. */
function changing(store: SnapshotStore, change: (children: readonly ChangedChild[]) => readonly ChangedChild[]): SnapshotStore {
  return writingInstead(store, (commit) => (commit.children ? { ...commit, children: change(commit.children) } : commit));
}

/** Makes a store that shows the children of commits that were refused with this code. */
function leakingOn(store: SnapshotStore, code: ErrorCode): SnapshotStore {
  const leaked = new Map<string, ChangedChild[]>();
  const leaking = async <T>({ workflowId, children = [] }: Commit, write: Promise<T>): Promise<T> => {
    try {
      return await write;
    } catch (error) {
      if (StepfoldError.is(error, code)) leaked.set(workflowId, [...(leaked.get(workflowId) ?? []), ...children]);
      throw error;
    }
  };
  const shown = showing(store, (snapshot) => withChildren(snapshot, leaked.get(snapshot.workflowId) ?? []));
  return altered(shown, {
    create: (commit, options) => leaking(commit, store.create(commit, options)),
    commit: (commit) => leaking(commit, store.commit(commit)),
  });
}

/** Makes a store that writes the children of a repeated commit once more. */
function writingTwice(store: SnapshotStore): SnapshotStore {
  const known = new Set<string>();
  const late: ChangedChild[] = [];
  return altered(
    showing(store, (snapshot) => withChildren(snapshot, late)),
    {
      commit(commit) {
        if (known.has(commit.commitId)) late.push(...(commit.children ?? []));
        known.add(commit.commitId);
        return store.commit(commit);
      },
    },
  );
}

/** Makes a store that deletes more children than it should. */
function deletingLike(store: SnapshotStore, alike: (key: string, deleted: string) => boolean): SnapshotStore {
  const known = new Set<string>();
  return changing(store, (children) => {
    for (const { key } of children) known.add(key);
    return children.flatMap((child) => {
      if (child.head) return [child];
      return [child, ...[...known].filter((key) => alike(key, child.key)).map((key) => ({ key, head: null }))];
    });
  });
}

function merging(store: SnapshotStore): SnapshotStore {
  const heads = new Map<string, ChangedChild["head"]>();
  return changing(store, (children) =>
    children.map(({ key, head }) => {
      const whole = head && { ...heads.get(key), ...head };
      heads.set(key, whole);
      return { key, head: whole };
    }),
  );
}

function headFirst(store: SnapshotStore): SnapshotStore {
  const before = new Map<string, Snapshot["childStates"]>();
  const late = showing(store, (snapshot) => {
    if (!before.has(snapshot.workflowId)) return snapshot;
    const { childStates: _, ...rest } = snapshot;
    const childStates = before.get(snapshot.workflowId);
    return childStates ? { ...rest, childStates } : rest;
  });
  return altered(late, {
    async commit(commit) {
      const { workflowId } = commit;
      before.set(workflowId, (await store.load(workflowId))?.childStates);
      await store.commit(commit);
      for (let turns = 0; turns < 5; turns++) await store.load(workflowId);
      before.delete(workflowId);
    },
  });
}
