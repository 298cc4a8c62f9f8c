import { error, type Finding, listed, ok, warning } from './finding.ts';

/*
 * Every sentence that `plimsoll check --pre-install` alone prints, to be read from top to bottom.
 */

export function versionFine(version: string): Finding {
  return ok('version', `the API server has version ${version}`);
}

export function versionTooOld(version: string, oldest: string): Finding {
  const next = 'upgrade the control plane first: the admission policies of Plimsoll need it';
  return error('version', `the API server has version ${version}, and Plimsoll needs ${oldest} or newer`, next);
}

export function versionUnknown(cause: string): Finding {
  return error('version', `cannot read the version of the API server: ${cause}`, 'see kubectl version');
}

export function admissionThere(): Finding {
  return ok('admission', 'webhooks and admission policies can be registered');
}

export function admissionMissing(resource: string): Finding {
  const next = 'see the flags --runtime-config and --disable-admission-plugins of the API server';
  return error('admission', `the API server does not serve ${resource}`, next);
}

export function installRightsThere(count: number): Finding {
  return ok('caller', `you have the ${count} rights that the installation needs`);
}

export function installRightMissing(verb: string, resource: string): Finding {
  const next = 'install as a user with the ClusterRole cluster-admin';
  return error('caller', `you may not ${verb} ${resource}`, next);
}

export function installRightsUnknown(cause: string): Finding {
  return warning('caller', `cannot check your rights: ${cause}`, 'see kubectl auth can-i --list');
}

export function definitionsLeft(names: readonly string[]): Finding {
  const next = 'see kubectl get plimsoll: policies that are there take effect as soon as Plimsoll runs';
  return warning('definitions', `Plimsoll is installed, or was: ${listed(names, 'definitions')}`, next);
}
