/** A DRA driver without a program: kube-scheduler allocates devices by what the ResourceSlices say. */
const DRIVER = 'devices.test';
/** A resource that no node advertises: the DeviceClass backs it. */
const EXTENDED_RESOURCE = 'devices.test/card';
const API = '/apis/resource.k8s.io/v1';

/** An object to create. */
interface Made {
  readonly path: string;
  readonly body: object;
}

/** The class of all devices, which also backs the extended resource (gate `DRAExtendedResource`, on from 1.36). */
export function deviceClass(): Made {
  const selectors = [{ cel: { expression: `device.driver == "${DRIVER}"` } }];
  const spec = { selectors, extendedResourceName: EXTENDED_RESOURCE };
  return { path: `${API}/deviceclasses`, body: { metadata: { name: DRIVER }, spec } };
}

/** One free device on a node. */
export function deviceOn(node: string): Made {
  const pool = { name: node, generation: 1, resourceSliceCount: 1 };
  const spec = { driver: DRIVER, nodeName: node, pool, devices: [{ name: 'device-0' }] };
  return { path: `${API}/resourceslices`, body: { metadata: { name: node }, spec } };
}

/** How a pod asks for a device. */
export interface DeviceNeed {
  readonly objects: readonly Made[];
  /** Of the pod. */
  readonly spec: object;
  /** Of its container, beside other amounts. */
  readonly claims: readonly object[];
  readonly amounts: Readonly<Record<string, string>>;
}

/** A ResourceClaim of its own, which the pod names. */
export function byClaim(name: string): DeviceNeed {
  const requests = [{ name: 'one', exactly: { deviceClassName: DRIVER } }];
  const claim = { metadata: { name }, spec: { devices: { requests } } };
  return {
    objects: [{ path: `${API}/namespaces/default/resourceclaims`, body: claim }],
    spec: { resourceClaims: [{ name: 'device', resourceClaimName: name }] },
    claims: [{ name: 'device' }],
    amounts: {},
  };
}

/** An extended resource, for which kube-scheduler makes the claim. */
export function byResource(): DeviceNeed {
  return { objects: [], spec: {}, claims: [], amounts: { [EXTENDED_RESOURCE]: '1' } };
}
