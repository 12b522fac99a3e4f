// validate.mjs FILE: what swagger-parser says of an OpenAPI document, and how many paths it found.
import SwaggerParser from '@apidevtools/swagger-parser'

try {
  const document = await SwaggerParser.validate(process.argv[2])
  console.log(`${Object.keys(document.paths).length} paths`)
} catch (error) {
  console.error(`${error?.message ?? error}`)
  process.exit(1)
}
