import { useEffect, useState } from "react";
import { useStudio } from "../../../app/studio-context.ts";

/** Returns the ids of all workflows that the server knows, in the order of the alphabet; empty until it has told them, or if it cannot. */
export function useWorkflowIds(): readonly string[] {
  const { client } = useStudio();
  const [ids, setIds] = useState<readonly string[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    client.workflows({ signal: stop.signal }).then(
      ({ workflows, stored }) => setIds([...new Set([...workflows, ...stored].map(({ id }) => id))].sort()),
      // the id can still be typed
      () => undefined,
    );
    return () => stop.abort();
  }, [client]);
  return ids;
}
