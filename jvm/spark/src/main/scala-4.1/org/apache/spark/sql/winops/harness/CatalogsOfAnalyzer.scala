package org.apache.spark.sql.winops.harness

import org.apache.spark.sql.catalyst.catalog.SessionCatalog
import org.apache.spark.sql.connector.catalog.{CatalogManager, CatalogPlugin}

/** Makes the catalogs that an analyzer resolves names in. */
private[harness] object CatalogsOfAnalyzer {
  def of(default: CatalogPlugin, session: SessionCatalog): CatalogManager =
    new CatalogManager(default, session)
}
