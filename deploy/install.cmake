# SPDX-License-Identifier: MPL-2.0
#
# What `cmake --install` puts where, in one component for each process. DESTDIR and --component work.

include(GNUInstallDirs)

set(RUNYARD_CONFIG_DIR /etc/runyard)
set(RUNYARD_HELPER_DIR libexec/runyard) # the processes look there: common/process.h

# install_settings(COMPONENT FILE): an example file, which never replaces the operator's own.
function(install_settings component file)
	install(CODE "
		if(NOT EXISTS \"\$ENV{DESTDIR}${RUNYARD_CONFIG_DIR}/${file}\")
			file(INSTALL \"${CMAKE_SOURCE_DIR}/deploy/etc/${file}\" DESTINATION ${RUNYARD_CONFIG_DIR})
		endif()" COMPONENT ${component})
endfunction()

# install_process(PROCESS UNIT): the program, its unit, its account, its folders, its manual page, its settings and the
# licence.
function(install_process process unit)
	set(name runyard-${process})
	configure_file(deploy/systemd/${unit}.in ${CMAKE_BINARY_DIR}/systemd/${unit} @ONLY)
	install(TARGETS ${name} RUNTIME COMPONENT ${process})
	install(FILES ${CMAKE_BINARY_DIR}/systemd/${unit} DESTINATION lib/systemd/system COMPONENT ${process})
	install(FILES deploy/systemd/${name}.sysusers DESTINATION lib/sysusers.d RENAME ${name}.conf COMPONENT ${process})
	install(FILES deploy/systemd/${name}.tmpfiles DESTINATION lib/tmpfiles.d RENAME ${name}.conf COMPONENT ${process})
	install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} RENAME copyright COMPONENT ${process})
	install(FILES deploy/man/${name}.8 DESTINATION ${CMAKE_INSTALL_MANDIR}/man8 COMPONENT ${process})
	install_settings(${process} ${process}.env)
endfunction()

install_process(scheduler runyard-scheduler.service)
install_process(notifier runyard-notifier.service)
install_process(worker runyard-worker@.service)
install(TARGETS runyard-saml runyard-openpgp RUNTIME DESTINATION ${RUNYARD_HELPER_DIR} COMPONENT scheduler)
install(TARGETS runyard-keeper runyard-network runyard-sandbox runyard-git runyard-inspect runyard-policy runyard-vault RUNTIME DESTINATION ${RUNYARD_HELPER_DIR} COMPONENT worker)
install(PROGRAMS deploy/systemd/runyard-cgroup-reset DESTINATION ${RUNYARD_HELPER_DIR} COMPONENT worker)

# runyard-migrate, of Python: packed into one program, in a package of its own for operators' machines.
file(GLOB migrate_sources CONFIGURE_DEPENDS deploy/migrate/runyard_migrate/*.py)
set(migrate ${CMAKE_BINARY_DIR}/bin/runyard-migrate)
add_custom_command(
	OUTPUT ${migrate}
	COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/bin
	COMMAND python3 ${CMAKE_SOURCE_DIR}/deploy/migrate/build ${migrate} ${PROJECT_VERSION}
	DEPENDS deploy/migrate/build ${migrate_sources}
	VERBATIM)
add_custom_target(runyard-migrate ALL DEPENDS ${migrate})
install(PROGRAMS ${migrate} DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT migrate)
install(FILES deploy/man/runyard-migrate.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT migrate)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/runyard-migrate RENAME copyright COMPONENT migrate)
