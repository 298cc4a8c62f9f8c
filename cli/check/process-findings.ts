import { compareTexts } from '#shared/domain/base/texts.ts';
import { NAMESPACE_NODE, NAMESPACE_SYSTEM } from '#shared/kube/api-names.ts';
import { conditionIn, conditionStatusIn } from '#shared/kube/decode/raw-conditions.ts';
import { fieldOf, itemsOf } from '#shared/kube/decode/wire-object.ts';
import { PODS } from '#shared/kube/resource.ts';
import { type Manifest, nameOf, namespaceOf, ofKind } from '#cli/manifests/parse-manifests.ts';
import type { Finding } from './finding.ts';
import { imagesDiffer, noneReady, processFails, someNotReady } from './messages.ts';

/** A pod that runs a process of Plimsoll. */
interface ProcessPod {
  readonly component: string;
  readonly namespace: string;
  readonly name: string;
  readonly image: string;
  readonly isReady: boolean;
  /** Why a container does not run, or why the pod has no node. */
  readonly fault: string | undefined;
}

/** What keeps the processes of Plimsoll from running, and processes of several versions side by side. */
export function processFindings(manifests: readonly Manifest[]): readonly Finding[] {
  const pods = ofKind(manifests, PODS).flatMap((manifest) => processPod(manifest) ?? []);
  const components = [...Map.groupBy(pods, ({ component }) => component)].sort(([a], [b]) => compareTexts(a, b));
  return [...components.flatMap(([component, own]) => findingsOf(component, own)), ...versionsOf(pods)];
}

const NAMESPACES: readonly string[] = [NAMESPACE_SYSTEM, NAMESPACE_NODE];
const ENDED: readonly unknown[] = ['Succeeded', 'Failed'];

/** Pods of a Deployment or DaemonSet that are to run: neither ended nor terminating. */
function processPod(manifest: Manifest): ProcessPod | undefined {
  const { metadata, spec, status } = manifest.raw;
  const namespace = namespaceOf(manifest, '');
  const component = fieldOf(fieldOf(metadata, 'labels'), 'app.kubernetes.io/component');
  const isOurs = fieldOf(fieldOf(metadata, 'labels'), 'app.kubernetes.io/name') === 'plimsoll';
  if (!isOurs || !NAMESPACES.includes(namespace) || typeof component !== 'string') return undefined;
  const isToRun = itemsOf(fieldOf(metadata, 'ownerReferences')).length > 0 && !ENDED.includes(fieldOf(status, 'phase'));
  if (!isToRun || fieldOf(metadata, 'deletionTimestamp') !== undefined) return undefined;
  const [container] = itemsOf(fieldOf(spec, 'containers'));
  return {
    component,
    namespace,
    name: nameOf(manifest),
    image: String(fieldOf(container, 'image')),
    isReady: conditionStatusIn(status, 'Ready') === 'True',
    fault: containerFault(status) ?? placementFault(status),
  };
}

/** What the kubelet says of a container that is to come, once that takes longer than usual. */
const USUAL: readonly unknown[] = ['ContainerCreating', 'PodInitializing', undefined];

function containerFault(status: unknown): string | undefined {
  const containers = ['initContainerStatuses', 'containerStatuses'].flatMap((key) => itemsOf(fieldOf(status, key)));
  return containers.map(faultOf).find((fault) => fault !== undefined);
}

function faultOf(container: unknown): string | undefined {
  const waiting = fieldOf(fieldOf(container, 'state'), 'waiting');
  const reason = fieldOf(waiting, 'reason');
  if (USUAL.includes(reason)) return undefined;
  const ended = fieldOf(fieldOf(container, 'lastState'), 'terminated');
  const code = fieldOf(ended, 'exitCode');
  const why = fieldOf(ended, 'reason') === 'OOMKilled' ? 'out of memory' : `exit code ${String(code)}`;
  const restarts = `, ${why}, restarted ${String(fieldOf(container, 'restartCount'))} times`;
  return `${String(fieldOf(container, 'name'))}: ${String(reason)}${ended === undefined ? '' : restarts}`;
}

function placementFault(status: unknown): string | undefined {
  const scheduled = conditionIn(status, 'PodScheduled');
  if (fieldOf(scheduled, 'status') !== 'False') return undefined;
  return `${String(fieldOf(scheduled, 'reason'))}: ${String(fieldOf(scheduled, 'message'))}`;
}

/** A fault says more than that a pod is not ready. */
function findingsOf(component: string, pods: readonly ProcessPod[]): readonly Finding[] {
  const faults = Map.groupBy(
    pods.filter(({ fault }) => fault !== undefined),
    ({ fault }) => fault ?? '',
  );
  const waiting = pods.filter(({ isReady, fault }) => !isReady && fault === undefined);
  const isNoneReady = !pods.some(({ isReady }) => isReady);
  const names = waiting.map(({ name }) => name);
  const { namespace = '' } = pods[0] ?? {};
  return [
    ...Array.from(faults, ([fault, failing]) =>
      processFails(
        component,
        fault,
        namespace,
        failing.map(({ name }) => name),
      ),
    ),
    ...(isNoneReady && component !== 'agent' ? [noneReady(component, namespace)] : []),
    ...(names.length > 0 && !isNoneReady ? [someNotReady(component, namespace, names)] : []),
  ];
}

function versionsOf(pods: readonly ProcessPod[]): readonly Finding[] {
  const images = Array.from(
    Map.groupBy(pods, ({ image }) => image),
    ([image, of]) => `${image} (${[...new Set(of.map(({ component }) => component))].sort().join(', ')})`,
  );
  return images.length > 1 ? [imagesDiffer(images.sort())] : [];
}
