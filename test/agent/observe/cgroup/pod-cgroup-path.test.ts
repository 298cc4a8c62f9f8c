import { describe, expect, test } from 'vitest';
import { podCgroupPath } from '#agent/observe/cgroup/cgroup-layout.ts';
import type { QosClass } from '#shared/domain/pod/pod-requests.ts';

const uid = '02fc025b-7095-4622-984a-5f571a192a5c';
const escaped = '02fc025b_7095_4622_984a_5f571a192a5c';

describe('podCgroupPath', () => {
  test.each<[driver: 'cgroupfs' | 'systemd', kubepods: string, qos: QosClass, path: string]>([
    ['cgroupfs', 'kubepods', 'Guaranteed', `kubepods/pod${uid}`],
    ['cgroupfs', 'kubepods', 'Burstable', `kubepods/burstable/pod${uid}`],
    ['cgroupfs', 'kubepods', 'BestEffort', `kubepods/besteffort/pod${uid}`],
    ['systemd', 'kubepods.slice', 'Guaranteed', `kubepods.slice/kubepods-pod${escaped}.slice`],
    [
      'systemd',
      'kubepods.slice',
      'Burstable',
      `kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${escaped}.slice`,
    ],
    [
      'systemd',
      'kubelet.slice/kubelet-kubepods.slice',
      'BestEffort',
      `kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/kubelet-kubepods-besteffort-pod${escaped}.slice`,
    ],
  ])('%s, %s, %s', (driver, kubepods, qos, path) => {
    expect(podCgroupPath({ driver, kubepods }, { uid, qos })).toBe(path);
  });
});
