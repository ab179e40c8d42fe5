import { useEffect, useState } from "react";
import { useStudio } from "../../app/studio-context.ts";
import type { TypeHandles } from "../../graph/card/ports.ts";

const none: TypeHandles = new Map();

/** The handles of the node types whose code the server has. Without an answer, edges alone tell the handles. */
export function useTypeHandles(): TypeHandles {
  const { client } = useStudio();
  const [handles, setHandles] = useState(none);
  useEffect(() => {
    const stop = new AbortController();
    client.nodeTypes({ signal: stop.signal }).then(
      ({ nodeTypes }) => {
        const known = nodeTypes.flatMap(({ type, handles: names }) => (names && names.length > 0 ? [[type, names] as const] : []));
        if (known.length > 0) setHandles(new Map(known));
      },
      () => undefined,
    );
    return () => stop.abort();
  }, [client]);
  return handles;
}
