import { isQualifiedName } from '#shared/domain/labels/label-syntax.ts';

const REQUESTS_PREFIX = 'requests.';

/** True for names without a slash and for those containing `kubernetes.io/`. `pkg/apis/core/v1/helper` IsNativeResource. */
export function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

/** True for an extended resource, such as a device. `pkg/apis/core/v1/helper` IsExtendedResourceName. */
export function isExtendedResource(name: string): boolean {
  return !isNativeResource(name) && !name.startsWith(REQUESTS_PREFIX) && isQualifiedName(REQUESTS_PREFIX + name);
}
