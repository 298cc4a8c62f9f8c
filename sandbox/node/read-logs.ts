import type { LogRequest } from './kubelet-server.ts';
import type { PodWorker } from './pod-worker.ts';

/** The text of a container's log, or the kubelet's sentence on why there is none. */
export function readLogs(
  workers: Iterable<PodWorker>,
  request: LogRequest,
): { readonly text: string } | { readonly missing: string } {
  const worker = [...workers].find((each) => {
    const { namespace, name } = each.pod().metadata;
    return namespace === request.namespace && name === request.pod;
  });
  if (worker === undefined) return { missing: `pod "${request.pod}" not found` };
  const runner = worker.runners.find((each) => each.record().name === request.container);
  if (runner === undefined) return { missing: `container "${request.container}" not found in pod "${request.pod}"` };
  const buffer = runner.logs(request.previous);
  if (buffer !== undefined) return { text: buffer.read(request) };
  const which = request.previous ? 'previous terminated container' : 'container';
  return { missing: `${which} "${request.container}" in pod "${request.pod}" not found` };
}
