/** The bill of materials of a build, in CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/). */

/**
 * Lists the packages that run in production and those that are bundled. It contains no time and no random number, so that the same sources
 * give the same file.
 * @param manifest the package.json
 * @param lock the package-lock.json, which has version, licence and digest of each package
 * @param bundled folders of bundled packages below the root, such as `node_modules/preact`
 * @param repository address of the sources, if it is known
 */
export function makeSbom(manifest, lock, bundled, repository) {
  const packages = Object.entries(lock.packages).filter(
    ([folder, { dev, devOptional }]) => folder !== '' && (!(dev || devOptional) || bundled.has(folder)),
  );
  const references = new Map(
    packages.map(([folder, entry]) => [folder, referenceOf(nameOf(folder, entry), entry.version)]),
  );
  const components = packages.map(([folder, entry]) => componentOf(folder, entry, references.get(folder)));
  const own = referenceOf(manifest.name, manifest.version);
  const direct = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        'bom-ref': own,
        type: 'application',
        name: manifest.name,
        version: manifest.version,
        description: manifest.description,
        licenses: [{ license: { id: manifest.license } }],
        purl: own,
        ...(repository && { externalReferences: [{ type: 'vcs', url: repository }] }),
      },
    },
    // The same version may be installed in several folders.
    components: [...new Map(components.map((component) => [component['bom-ref'], component])).values()].toSorted(
      (a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1),
    ),
    dependencies: [{ ref: own, dependsOn: direct.map((name) => references.get(`node_modules/${name}`)) }],
  };
}

/** The package's own name. An alias is installed under a different one. */
const nameOf = (folder, { name }) => name ?? folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);

const referenceOf = (name, version) => `pkg:npm/${name.replace('@', '%40')}@${version}`;

function componentOf(folder, entry, reference) {
  const name = nameOf(folder, entry);
  const [group, rest] = name.startsWith('@') ? name.split('/') : [undefined, name];
  return {
    'bom-ref': reference,
    type: 'library',
    ...(group && { group }),
    name: rest,
    version: entry.version,
    scope: entry.optional ? 'optional' : 'required',
    ...(entry.license && { licenses: [licenceOf(entry.license)] }),
    ...(entry.integrity && { hashes: [hashOf(entry.integrity)] }),
    purl: reference,
  };
}

/** One licence by its SPDX identifier, or an expression such as `(MIT OR Apache-2.0)`. */
const licenceOf = (license) => (/[ (]/.test(license) ? { expression: license } : { license: { id: license } });

/** @param integrity in npm's form: an algorithm, and the digest in base64 */
function hashOf(integrity) {
  const [algorithm, digest] = integrity.split(' ')[0].split(/-(.*)/s);
  return {
    alg: algorithm.toUpperCase().replace('SHA', 'SHA-'),
    content: Buffer.from(digest, 'base64').toString('hex'),
  };
}
