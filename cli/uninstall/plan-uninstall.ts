import { NAMESPACE_NODE, NAMESPACE_SYSTEM, PRESSURE_TAINTS } from '#shared/kube/api-names.ts';
import { fieldOf, isRecord, itemsOf } from '#shared/kube/decode/wire-object.ts';
import { kindLabel, type Resource } from '#shared/kube/resource.ts';
import { type Manifest, nameOf, namespaceOf } from '#cli/manifests/parse-manifests.ts';
import { offersSpareRoom } from './clean-up.ts';
import {
  definitionStays,
  gatesStay,
  labelStays,
  limitStays,
  type Remnant,
  spareRoomStays,
  taintStays,
} from './messages.ts';
import type { Installation } from './read-installation.ts';

/** An object that would be removed. */
export interface RemovedObject {
  /** As kubectl names it: `deployment.apps`. */
  readonly resource: string;
  readonly name: string;
  /** Empty for an object without a namespace. */
  readonly namespace: string;
}

/** What uninstalling removes, in order, and what it leaves. */
export interface UninstallPlan {
  readonly removed: readonly RemovedObject[];
  readonly stays: readonly Remnant[];
}

const TAINTS: readonly unknown[] = Object.values(PRESSURE_TAINTS);
const LABEL = /^plimsoll\.dev\//;
const OWN_NAMESPACES: readonly string[] = [NAMESPACE_SYSTEM, NAMESPACE_NODE];

/**
 * Plans the uninstallation; CustomResourceDefinitions stay, because deleting them would delete all policies and quotas.
 */
export function planUninstall(installation: Installation): UninstallPlan {
  const { installed, objects, definitions, nodes, namespaces, waitingPods, throttledPods } = installation;
  return {
    removed: installed.flatMap(([resource, manifests]) => manifests.map((each) => removedObject(resource, each))),
    stays: [
      ...(waitingPods === 0 ? [] : [gatesStay(waitingPods)]),
      ...throttledPods.map(limitStays),
      ...definitions.map((each) => definitionStays(nameOf(each), objects.get(nameOf(each)) ?? 0)),
      ...nodes.flatMap((each) => taintsOf(each).map((key) => taintStays(nameOf(each), key))),
      ...nodes.filter(offersSpareRoom).map((each) => spareRoomStays(nameOf(each))),
      ...namespaces.flatMap((each) => labelsOf(each).map((key) => labelStays(nameOf(each), key))),
    ],
  };
}

function removedObject(resource: Resource, manifest: Manifest): RemovedObject {
  return { resource: kindLabel(resource), name: nameOf(manifest), namespace: namespaceOf(manifest, '') };
}

/** Each key once, although a node may have it with several effects. */
function taintsOf({ raw }: Manifest): readonly string[] {
  const keys = itemsOf(fieldOf(raw['spec'], 'taints')).map((taint) => fieldOf(taint, 'key'));
  return [...new Set(keys.filter((key) => TAINTS.includes(key)).map(String))];
}

/** Of namespaces that stay. */
function labelsOf(manifest: Manifest): readonly string[] {
  const labels = fieldOf(manifest.raw['metadata'], 'labels');
  if (!isRecord(labels) || OWN_NAMESPACES.includes(nameOf(manifest))) return [];
  return Object.keys(labels).filter((key) => LABEL.test(key));
}
