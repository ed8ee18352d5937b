# SPDX-License-Identifier: MPL-2.0
#
# The Debian packages, one for each process and one for runyard-migrate: `cpack -G DEB` in the folder of a build with -DCMAKE_INSTALL_PREFIX=/usr, which
# the units name. dpkg-shlibdeps finds the libraries that they depend on.

set(CPACK_PACKAGE_NAME runyard)
set(CPACK_PACKAGE_VENDOR Runyard)
set(CPACK_PACKAGE_CONTACT "Runyard's maintainers <runyard@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL scheduler worker notifier migrate)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# package(PROCESS NAMES summary): NAMES are the further packages that the program needs at run time.
function(package process names summary)
	string(TOUPPER ${process} key)
	set(folder ${CMAKE_BINARY_DIR}/debian/${process})
	set(PROCESS ${process})
	foreach(script postinst prerm postrm conffiles)
		configure_file(deploy/debian/${script}.in ${folder}/${script} @ONLY
			FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
		list(APPEND scripts ${folder}/${script})
	endforeach()
	file(CHMOD ${folder}/conffiles PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
	set(CPACK_DEBIAN_${key}_PACKAGE_NAME runyard-${process} PARENT_SCOPE)
	set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "${names}" PARENT_SCOPE)
	set(CPACK_DEBIAN_${key}_PACKAGE_CONTROL_EXTRA "${scripts}" PARENT_SCOPE)
	set(CPACK_COMPONENT_${key}_DESCRIPTION "${summary}" PARENT_SCOPE)
endfunction()

package(scheduler "systemd, ca-certificates" "Runyard's scheduler: the API and the queues of runs
 It needs PostgreSQL and Apache Kafka.")
package(notifier "systemd, ca-certificates" "Runyard's notifier: run tasks and notifications
 It needs Redis and Apache Kafka.")
package(worker "systemd, bubblewrap, ca-certificates, git, gpgv, openssh-client, passt, tzdata"
	"Runyard's worker: executes runs with terraform or tofu
 It runs each job in a sandbox, and downloads the engines.")

set(CPACK_DEBIAN_MIGRATE_PACKAGE_NAME runyard-migrate)
set(CPACK_DEBIAN_MIGRATE_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_MIGRATE_PACKAGE_DEPENDS "python3 (>= 3.9)")
set(CPACK_DEBIAN_MIGRATE_PACKAGE_SHLIBDEPS OFF)
set(CPACK_COMPONENT_MIGRATE_DESCRIPTION "Moves organizations to Runyard
 It reads servers with TFE's API and plain backends.")

include(CPack)
