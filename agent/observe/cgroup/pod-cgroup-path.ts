export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

/** Where a kubelet creates the cgroups of its pods. */
export interface PodsPlace {
  readonly driver: 'cgroupfs' | 'systemd';
  /** Path of the cgroup of all pods below each root, such as `kubepods` or `kubepods.slice`. */
  readonly kubepods: string;
}

/** What a pod's cgroup is named after. */
export interface PodCgroupName {
  /** For a static pod the hash in its `kubernetes.io/config.mirror` annotation, the only UID that the kubelet knows. */
  readonly uid: string;
  readonly qos: QosClass;
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** systemd names a slice after all its parents: `kubepods-burstable-podUID.slice`, dashes of the UID as underscores. */
function systemdPath(kubepods: string, { uid, qos }: PodCgroupName): string {
  const stem = lastPart(kubepods).replace(/\.slice$/, '');
  const escaped = uid.replaceAll('-', '_');
  if (qos === 'Guaranteed') return `${kubepods}/${stem}-pod${escaped}.slice`;
  const level = `${stem}-${qos.toLowerCase()}`;
  return `${kubepods}/${level}.slice/${level}-pod${escaped}.slice`;
}

function cgroupfsPath(kubepods: string, { uid, qos }: PodCgroupName): string {
  const level = qos === 'Guaranteed' ? kubepods : `${kubepods}/${qos.toLowerCase()}`;
  return `${level}/pod${uid}`;
}

/** Path of the pod's cgroup below each tree, as the kubelet names it. */
export function podCgroupPath(place: PodsPlace, pod: PodCgroupName): string {
  return place.driver === 'systemd' ? systemdPath(place.kubepods, pod) : cgroupfsPath(place.kubepods, pod);
}
